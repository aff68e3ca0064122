"""Who may come in from outside: credentials, of which only digests are known, as a fold over what happened to them.

A credential is a `token` that a program or person carries, a `session` of a browser, or a one-time `code` that opens a session. A
session that a token opened ends with that token.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import ClassVar, Final, Literal

from outlast.domain.dataclass import dataclass
from outlast.domain.door import digest_of

Scope = Literal["read", "write", "admin"]
"""What a credential is good for: looking, starting and changing runs, seeing to the whole."""

SCOPES: Final[tuple[Scope, ...]] = ("read", "write", "admin")

Kind = Literal["token", "session", "code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialIssued:
    """A credential exists: whoever shows the secret with this `digest` acts as the user, as far as the scopes go."""

    VERSION: ClassVar[int] = 1

    credential: str
    kind: Kind
    digest: str
    user_id: str
    scopes: tuple[Scope, ...]
    label: str = ""
    expires_at: datetime | None = None
    opened_by: str | None = None


@dataclass(frozen=True, slots=True)
class CredentialEnded:
    """A credential is good for nothing any more: it was revoked, left, or used up."""

    VERSION: ClassVar[int] = 1

    credential: str
    by: str


@dataclass(frozen=True, slots=True)
class CredentialUsed:
    """A credential was shown; said once a day at most."""

    VERSION: ClassVar[int] = 1

    credential: str


AccessEvent = CredentialIssued | CredentialEnded | CredentialUsed

ACCESS_EVENTS: Final[dict[str, type[AccessEvent]]] = {
    kind.__name__: kind for kind in (CredentialIssued, CredentialEnded, CredentialUsed)
}


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential as it stands."""

    issued: CredentialIssued
    issued_at: datetime
    used_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def id(self) -> str:
        """What it is called where its secret must not be."""
        return self.issued.credential

    def is_live(self, now: datetime) -> bool:
        """Has it neither ended nor expired?"""
        expires_at = self.issued.expires_at
        return self.ended_at is None and (expires_at is None or now < expires_at)


class Keyring:
    """Every credential there is, by what happened."""

    def __init__(self) -> None:
        self._known: dict[str, Credential] = {}
        self._ids: dict[str, str] = {}

    def __iter__(self) -> Iterator[Credential]:
        """All of them, the oldest first."""
        return iter(self._known.values())

    def fold(self, event: AccessEvent, at: datetime) -> None:
        """One more thing happened. What is said of an unknown credential is ignored."""
        if isinstance(event, CredentialIssued):
            self._known[event.credential] = Credential(event, at)
            self._ids[event.digest] = event.credential
            return
        known = self._known.get(event.credential)
        if known is None:
            return
        if isinstance(event, CredentialUsed):
            self._known[known.id] = replace(known, used_at=at)
        elif known.ended_at is None:
            self._known[known.id] = replace(known, ended_at=at)

    def get(self, credential: str) -> Credential | None:
        """The credential of this name."""
        return self._known.get(credential)

    def find(self, secret: str) -> Credential | None:
        """The credential of this secret, live or not."""
        return self._known.get(self._ids.get(digest_of(secret), ""))

    def is_good(self, credential: Credential, now: datetime) -> bool:
        """Is a credential live, and the one that opened it too?"""
        opened_by = credential.issued.opened_by
        opener = self._known.get(opened_by) if opened_by is not None else None
        return credential.is_live(now) and (opened_by is None or (opener is not None and opener.is_live(now)))

    def has_users(self, now: datetime) -> bool:
        """Does anybody have a token that is good?"""
        return any(one.issued.kind == "token" and one.is_live(now) for one in self)
