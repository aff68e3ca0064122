"""Signing in and out with a browser: a token, or the code of the link that `outlast serve` prints, for a cookie."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from outlast.domain.access import SCOPES, Scope
from outlast.domain.errors import NotFound
from outlast.domain.ids import LOCAL_USER
from outlast.gateway.access import Caller
from outlast.gateway.problems import Refusal
from outlast.gateway.shapes.asked import SignIn
from outlast.gateway.shapes.looks import SessionDocument
from outlast.gateway.site import AtSite, Site
from outlast.service.access import SESSION_SECONDS, Grant, Issued, issue, open_session, revoke

router = APIRouter(prefix="/api/session", tags=["session"])


@router.get("", response_model=SessionDocument)
async def show(request: Request, site: AtSite) -> JSONResponse:
    """Who you are here; nobody, where you have to sign in first."""
    try:
        caller = await _somebody(request, site)
    except _NobodyHere:
        return JSONResponse(_document(site, None, ()))
    is_signed_in = caller.credential is not None
    return JSONResponse(_document(site, caller.user_id, caller.scopes, is_signed_in=is_signed_in))


@router.post("", response_model=SessionDocument)
async def sign_in(request: Request, wanted: SignIn, site: AtSite) -> JSONResponse:
    """Open a session, with a token or with a code, which is good once."""
    site.sign_ins.spend(request.client.host if request.client else "")
    issued = await _session(site, wanted.token or wanted.code)
    if issued is None:
        detail = "The token or code is unknown, used, revoked or expired."
        step = "Get a new link by starting `outlast serve` again, or a token with `outlast token create`."
        raise Refusal("token_refused", detail, step, status=401)
    granted, terms = issued.credential, site.access.terms
    answer = JSONResponse(_document(site, granted.user_id, granted.scopes, is_signed_in=True))
    answer.set_cookie(
        terms.cookie,
        issued.secret,
        max_age=int(SESSION_SECONDS),
        path="/",
        secure=terms.is_secure,
        httponly=True,
        samesite="strict",
    )
    return answer


@router.delete("", response_model=SessionDocument)
async def sign_out(request: Request, site: AtSite) -> JSONResponse:
    """End the session of this browser. One that has ended already is only forgotten."""
    terms = site.access.terms
    if terms.cookie in request.cookies:
        with suppress(NotFound, _NobodyHere):
            caller = await _somebody(request, site)
            if caller.credential is not None:
                await revoke(site.store, caller.credential, caller.user_id)
    answer = JSONResponse(_document(site, None, ()))
    answer.delete_cookie(terms.cookie, path="/", secure=terms.is_secure, httponly=True, samesite="strict")
    return answer


class _NobodyHere(Exception):
    """The request does not show who it is from."""


async def _somebody(request: Request, site: Site) -> Caller:
    try:
        return await site.access.admit(request)
    except Refusal as refused:
        if refused.status == HTTPStatus.UNAUTHORIZED:
            raise _NobodyHere from refused
        raise


async def _session(site: Site, secret: str) -> Issued | None:
    """A session for whoever shows this secret."""
    if site.access.is_configured(secret):
        ends_at = await site.store.now() + timedelta(seconds=SESSION_SECONDS)
        grant = Grant(user_id=LOCAL_USER, scopes=SCOPES, kind="session", expires_at=ends_at)
        return await issue(site.store, grant, secrets.token_bytes(40))
    return await open_session(site.store, site.access.register, secret, secrets.token_bytes(40))


def _document(
    site: Site, user: str | None, scopes: Iterable[Scope], *, is_signed_in: bool = False
) -> dict[str, object]:
    must_sign_in = not site.access.terms.is_open
    return {
        "user": user,
        "scopes": sorted(scopes),
        "is_signed_in": is_signed_in,
        "must_sign_in": must_sign_in,
    }
