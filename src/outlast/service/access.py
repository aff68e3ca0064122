"""Giving people and programs access, and taking it away. Secrets are shown once and kept only as digests."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from outlast.domain.access import (
    SCOPES,
    AccessEvent,
    Credential,
    CredentialEnded,
    CredentialIssued,
    CredentialUsed,
    Keyring,
    Kind,
    Scope,
)
from outlast.domain.dataclass import dataclass
from outlast.domain.door import clean_text, digest_of
from outlast.domain.errors import Broken, CallerMistake, NotFound
from outlast.domain.ids import is_safe_id
from outlast.journal.access import access_items, read_access
from outlast.ports.batch import Committed
from outlast.ports.store import Store

SESSION_SECONDS: Final = 7 * 24 * 3600.0
"""How long a browser stays signed in."""

CODE_SECONDS: Final = 600.0
"""How long the link to sign in is good."""

MAX_LABEL: Final = 200
_RACES: Final = 20
_PREFIXES: Final[dict[Kind, str]] = {"token": "olt_", "session": "ols_", "code": "olc_"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What is to be issued: for whom, for what, until when (None: until it is revoked)."""

    user_id: str
    scopes: Sequence[Scope] = ("read", "write")
    kind: Kind = "token"
    label: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Issued:
    """A credential and its secret, which nobody can tell again."""

    credential: CredentialIssued
    secret: str


class Register:
    """The credentials of a store as they stand, read on from where they were last read."""

    def __init__(self, store: Store) -> None:
        self.keyring = Keyring()
        self.position = 0
        self._store = store

    async def refresh(self) -> Keyring:
        """The credentials as they stand now."""
        for position, at, event in await read_access(self._store, self.position):
            if position == self.position + 1:  # else another refresh was faster
                self.keyring.fold(event, at)
                self.position = position
        return self.keyring


async def issue(store: Store, grant: Grant, random: bytes) -> Issued:
    """Issue a credential; `random` is at least 40 random bytes. Raises CallerMistake (`bad_user`, `bad_scope`, `bad_expiry`)."""
    _check(grant, await store.now())
    issued = _issued(grant, random)
    await _tell(store, [issued.credential])
    return issued


async def revoke(store: Store, credential: str, by: str) -> None:
    """End a credential and every session it opened. Raises NotFound (`unknown_token`)."""
    known = (await Register(store).refresh()).get(credential)
    if known is None or known.ended_at is not None:
        raise NotFound(
            "unknown_token", f"There is no token {credential[:80]}.", "List them with `outlast token list`."
        )
    await _tell(store, [CredentialEnded(credential, by)])


async def list_tokens(store: Store) -> list[dict[str, Any]]:
    """Every token and session there is or was, oldest first, without secrets."""
    keyring, now = await Register(store).refresh(), await store.now()
    return [_listed(keyring, one, now) for one in keyring if one.issued.kind != "code"]


async def open_session(store: Store, register: Register, secret: str, random: bytes) -> Issued | None:
    """A session for whoever shows a good token or a code that was not used yet; None for any other secret.

    Of two that show one code at once, one gets a session.
    """
    for _ in range(_RACES):
        now = await store.now()
        keyring = await register.refresh()
        known = keyring.find(secret)
        if known is None or known.issued.kind == "session" or not keyring.is_good(known, now):
            return None
        issued = _session(known, now, random)
        if known.issued.kind == "token":
            await _tell(store, [issued.credential])
            return issued
        events: list[AccessEvent] = [issued.credential, CredentialEnded(known.id, known.issued.user_id)]
        if isinstance(await store.commit([access_items(events, register.position, now)]), Committed):
            return issued
    raise Broken("store_contended", "Too many sign in at once.", "Try again.")


async def note_use(store: Store, credential: Credential) -> None:
    """Say that a credential was shown."""
    await _tell(store, [CredentialUsed(credential.id)])


def _session(opener: Credential, now: datetime, random: bytes) -> Issued:
    by_token = opener.issued.kind == "token"
    ends_at = now + timedelta(seconds=SESSION_SECONDS)
    if by_token and opener.issued.expires_at is not None:
        ends_at = min(ends_at, opener.issued.expires_at)
    grant = Grant(
        user_id=opener.issued.user_id,
        scopes=opener.issued.scopes,
        kind="session",
        label=opener.issued.label,
        expires_at=ends_at,
    )
    return _issued(grant, random, opener.id if by_token else None)


def _issued(grant: Grant, random: bytes, opened_by: str | None = None) -> Issued:
    secret = _PREFIXES[grant.kind] + base64.urlsafe_b64encode(random[:32]).decode().rstrip("=")
    event = CredentialIssued(
        credential=f"k-{random[32:40].hex()}",
        kind=grant.kind,
        digest=digest_of(secret),
        user_id=grant.user_id,
        scopes=tuple(scope for scope in SCOPES if scope in grant.scopes),
        label=clean_text(grant.label),
        expires_at=grant.expires_at,
        opened_by=opened_by,
    )
    return Issued(event, secret)


def _check(grant: Grant, now: datetime) -> None:
    if not is_safe_id(grant.user_id):
        detail = f"{grant.user_id[:80]!r} cannot be a user: 1 to 80 of A-Z a-z 0-9 _ . : -, beginning with a letter or digit."
        raise CallerMistake("bad_user", detail, "Choose another name.")
    if not grant.scopes or not set(grant.scopes) <= set(SCOPES):
        detail = f"Scopes are {', '.join(SCOPES)}, not {', '.join(grant.scopes)[:80] or 'none'}."
        raise CallerMistake("bad_scope", detail, "Give at least one of them.")
    if grant.expires_at is not None and grant.expires_at <= now:
        raise CallerMistake(
            "bad_expiry", "It would have expired already.", "Give a time to come, such as 90d."
        )
    if len(grant.label) > MAX_LABEL:
        raise CallerMistake(
            "label_too_long", f"The label has more than {MAX_LABEL} characters.", "Shorten it."
        )


async def _tell(store: Store, events: Sequence[AccessEvent]) -> None:
    """Tell what happened, whatever else did."""
    if not isinstance(await store.commit([access_items(events, None, await store.now())]), Committed):
        raise Broken("store_contended", "What happened to a credential could not be written.", "Try again.")


def _listed(keyring: Keyring, one: Credential, now: datetime) -> dict[str, Any]:
    issued = one.issued
    state = "live" if keyring.is_good(one, now) else "ended" if one.ended_at is not None else "expired"
    return {
        "id": one.id,
        "kind": issued.kind,
        "user": issued.user_id,
        "scopes": list(issued.scopes),
        "label": issued.label,
        "state": state,
        "created_at": one.issued_at.isoformat(),
        "expires_at": issued.expires_at.isoformat() if issued.expires_at is not None else None,
        "last_used_at": one.used_at.isoformat() if one.used_at is not None else None,
    }
