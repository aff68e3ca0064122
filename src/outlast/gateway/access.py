"""Who asks, and what they may: on loopback the person at the machine, elsewhere whoever has a token or a session."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Final

from fastapi import Depends, Request

from outlast.domain.access import SCOPES, Credential, Keyring, Scope
from outlast.domain.dataclass import dataclass
from outlast.domain.ids import LOCAL_USER
from outlast.gateway.pace import Pace
from outlast.gateway.problems import Refusal
from outlast.ports.store import Store
from outlast.service.access import Register, note_use

USE_IS_NOTED_EVERY: Final = timedelta(days=1)
_SAFE: Final = frozenset({"GET", "HEAD"})
_ASK: Final = {"WWW-Authenticate": "Bearer"}


@dataclass(frozen=True, slots=True)
class Caller:
    """A user and what this request of theirs may do. `credential` is the id of what was shown, if anything was."""

    user_id: str
    scopes: frozenset[Scope]
    credential: str | None = None

    def require(self, scope: Scope) -> None:
        """Raise Refusal (`scope_missing`) unless the caller has a scope."""
        if scope not in self.scopes:
            detail = f"This needs the scope {scope}; the token has {', '.join(sorted(self.scopes))}."
            raise Refusal("scope_missing", detail, "Ask with a token that has it.", status=403)


LOCAL_CALLER: Final = Caller(LOCAL_USER, frozenset(SCOPES))
"""The person at the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How callers are told apart: `is_open` where nobody need show anything; the configured token; the name of the cookie."""

    is_open: bool
    token: str | None
    cookie: str
    is_secure: bool


class Access:
    """Knows callers by what they show. Everything they show is looked up as it stands in the store at that moment."""

    def __init__(self, store: Store, terms: Terms, pace: Pace, now: Callable[[], datetime]) -> None:
        self.terms = terms
        self.register = Register(store)
        self._store = store
        self._pace = pace
        self._now = now

    async def admit(self, request: Request) -> Caller:
        """The caller of a request. Raises Refusal (`token_missing`, `token_refused`, `foreign_origin`, `too_many_requests`)."""
        try:
            caller = await self.identify(request)
        except Refusal:
            self._pace.spend(f"?{request.client.host if request.client else ''}")
            raise
        self._pace.spend(caller.user_id)
        return caller

    async def identify(self, request: Request) -> Caller:
        """The caller of a request, which is not counted. Raises as `admit` does."""
        secret = _bearer(request)
        if secret is not None and self.is_configured(secret):
            return LOCAL_CALLER
        if secret is not None:
            return await self._known(secret, "token")
        cookie = request.cookies.get(self.terms.cookie)
        if cookie is not None:
            _require_page(request)
            return await self._known(cookie, "session")
        if self.terms.is_open:
            return LOCAL_CALLER
        step = "Sign in on the page, or send `Authorization: Bearer TOKEN`."
        raise Refusal("token_missing", "This server asks who you are.", step, status=401, headers=_ASK)

    def is_configured(self, secret: str) -> bool:
        """Is this the token of the configuration?"""
        known = self.terms.token
        return known is not None and hmac.compare_digest(_bytes(secret), _bytes(known))

    async def _known(self, secret: str, kind: str) -> Caller:
        keyring = await self.register.refresh()
        found = keyring.find(secret)
        now = self._now()
        if found is None or found.issued.kind != kind or not keyring.is_good(found, now):
            raise _refused(keyring, found, kind)
        if kind == "token" and (found.used_at is None or now - found.used_at > USE_IS_NOTED_EVERY):
            await note_use(self._store, found)
        return Caller(found.issued.user_id, frozenset(found.issued.scopes), found.id)


def _refused(keyring: Keyring, found: Credential | None, kind: str) -> Refusal:
    """Why a secret is refused; whoever has it may know what became of it."""
    if found is None or found.issued.kind != kind:
        detail = f"The {kind} is none of this server's."
    elif found.ended_at is not None:
        detail = f"The {kind} was revoked."
    else:
        detail = f"The {kind} has expired, or what opened it has ended."
    return Refusal("token_refused", detail, "Sign in again, or get a new token.", status=401, headers=_ASK)


def _bearer(request: Request) -> str | None:
    given = request.headers.get("authorization")
    if given is None:
        return None
    kind, _, secret = given.partition(" ")
    if kind.lower() == "bearer" and secret.strip():
        return secret.strip()
    step = "Send `Authorization: Bearer TOKEN`."
    raise Refusal("token_refused", "Only bearer tokens are taken.", step, status=401, headers=_ASK)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _require_page(request: Request) -> None:
    """A cookie that changes something must come from our page, and a browser says so."""
    says = request.headers.get("origin") or request.headers.get("sec-fetch-site")
    if request.method not in _SAFE and not says:
        detail = "A request with a cookie does not say which page it comes from."
        raise Refusal("foreign_origin", detail, "Use the page, or a token.", status=403)


async def _reader(request: Request) -> Caller:
    return await _with_scope(request, "read")


async def _writer(request: Request) -> Caller:
    return await _with_scope(request, "write")


async def _admin(request: Request) -> Caller:
    return await _with_scope(request, "admin")


async def _with_scope(request: Request, scope: Scope) -> Caller:
    access: Access = request.app.state.site.access
    caller = await access.admit(request)
    caller.require(scope)
    return caller


Reader = Annotated[Caller, Depends(_reader)]
"""A caller that may read."""

Writer = Annotated[Caller, Depends(_writer)]
"""A caller that may start and change runs."""

Admin = Annotated[Caller, Depends(_admin)]
"""A caller that may see to the whole."""
