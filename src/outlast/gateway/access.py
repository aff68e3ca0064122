"""Who asks, and what they may: on loopback the person at the machine, elsewhere whoever has a token."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.datastructures import Headers

from outlast.domain.ids import LOCAL_USER
from outlast.gateway.pace import Pace
from outlast.gateway.problems import Refusal

READ: Final = "read"
WRITE: Final = "write"
ADMIN: Final = "admin"


@dataclass(frozen=True, slots=True)
class Caller:
    """A user and what this request of theirs may do."""

    user_id: str
    scopes: frozenset[str]

    def require(self, scope: str) -> None:
        """Raise Refusal (`scope_missing`) unless the caller has a scope."""
        if scope not in self.scopes:
            detail = (
                f"This needs the scope {scope}; the token has {', '.join(sorted(self.scopes)) or 'none'}."
            )
            raise Refusal("scope_missing", detail, "Ask with a token that has it.", status=403)


LOCAL_CALLER: Final = Caller(LOCAL_USER, frozenset((READ, WRITE, ADMIN)))
"""The person at the machine."""


class Access:
    """Knows callers. Without a token everybody who reaches this machine's loopback is the person at it."""

    def __init__(self, token: str | None, pace: Pace) -> None:
        self._token = token
        self._pace = pace

    async def admit(self, headers: Headers) -> Caller:
        """The caller of a request. Raises Refusal (`token_missing`, `token_refused`, `too_many_requests`)."""
        caller = self._caller(headers)
        self._pace.spend(caller.user_id)
        return caller

    async def recheck(self, headers: Headers) -> None:
        """Raise Refusal where a caller that was admitted would not be any more."""
        self._caller(headers)

    def _caller(self, headers: Headers) -> Caller:
        if self._token is None:
            return LOCAL_CALLER
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not given:
            step = "Send `Authorization: Bearer TOKEN`."
            raise Refusal("token_missing", "This server asks for a token.", step, status=401, headers=_ASK)
        if not hmac.compare_digest(given.strip().encode(), self._token.encode()):
            detail = "The token is none of ours."
            raise Refusal("token_refused", detail, "Check the token.", status=401, headers=_ASK)
        return LOCAL_CALLER


_ASK: Final = {"WWW-Authenticate": "Bearer"}


async def _reader(request: Request) -> Caller:
    return await _with_scope(request, READ)


async def _writer(request: Request) -> Caller:
    return await _with_scope(request, WRITE)


async def _admin(request: Request) -> Caller:
    return await _with_scope(request, ADMIN)


async def _with_scope(request: Request, scope: str) -> Caller:
    access: Access = request.app.state.site.access
    caller = await access.admit(request.headers)
    caller.require(scope)
    return caller


Reader = Annotated[Caller, Depends(_reader)]
"""A caller that may read."""

Writer = Annotated[Caller, Depends(_writer)]
"""A caller that may start and change runs."""

Admin = Annotated[Caller, Depends(_admin)]
"""A caller that may see to the whole."""
