"""Every refusal as `application/problem+json`: what it is called, what happened, and what to do next."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from outlast.domain.door import clean_text
from outlast.domain.errors import (
    Broken,
    CallerMistake,
    Conflict,
    ModelMistake,
    NotFound,
    OutlastError,
    Passing,
)

MEDIA_TYPE: Final = "application/problem+json"
_SHOWN_PROBLEMS: Final = 10
_SHOWN_CHARACTERS: Final = 200
_UNAVAILABLE: Final = frozenset({"store_unavailable", "store_full", "store_contended"})
_log = logging.getLogger("outlast.gateway")


class Refusal(CallerMistake):
    """A request that the gateway itself turns away, with the HTTP status it is turned away with."""

    def __init__(
        self,
        code: str,
        detail: str,
        next_step: str,
        *,
        status: int,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code, detail, next_step)
        self.status = status
        self.headers = dict(headers or {})


def problem(
    code: str, detail: str, next_step: str, status: int, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """The response that tells a problem."""
    body = {
        "type": f"urn:outlast:error:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": clean_text(detail),  # it may quote what was asked for
        "next": clean_text(next_step),
    }
    return JSONResponse(body, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def problem_of(error: OutlastError) -> JSONResponse:
    """The response that tells an error of ours."""
    headers = error.headers if isinstance(error, Refusal) else None
    return problem(error.code, error.detail, error.next_step, status_of(error), headers)


def status_of(error: OutlastError) -> int:
    """The HTTP status an error stands for: 4xx for what the caller must change, 503 for what may pass, 500 for the rest."""
    match error:
        case Refusal():
            return error.status
        case NotFound():
            return HTTPStatus.NOT_FOUND
        case Conflict():
            return HTTPStatus.CONFLICT
        case CallerMistake() | ModelMistake():
            return HTTPStatus.BAD_REQUEST
        case Passing():
            return HTTPStatus.SERVICE_UNAVAILABLE
        case Broken() if error.code in _UNAVAILABLE:
            return HTTPStatus.SERVICE_UNAVAILABLE
        case _:
            return HTTPStatus.INTERNAL_SERVER_ERROR


def tell_problems(app: FastAPI) -> None:
    """Have an application tell every error this way."""
    app.add_exception_handler(OutlastError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _surprise)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, OutlastError)
    if status_of(error) >= HTTPStatus.INTERNAL_SERVER_ERROR:
        _log.error("%s %s: %s: %s", request.method, request.url.path, error.code, error.detail)
    return problem_of(error)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:_SHOWN_PROBLEMS]]
    return problem(
        "invalid_request",
        f"The request does not fit: {'; '.join(found)}.",
        "Correct these fields; /openapi.json describes them all.",
        HTTPStatus.UNPROCESSABLE_ENTITY,
    )


async def _of_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    path = request.url.path[:_SHOWN_CHARACTERS]
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(sorted(_methods_for(request)))
        detail = f"{request.method} is not for {path}."
        return problem(
            "method_not_allowed", detail, f"It takes {allowed}.", error.status_code, {"Allow": allowed}
        )
    if error.status_code == HTTPStatus.NOT_FOUND:
        return no_such_route(path)
    return problem(
        "invalid_request", str(error.detail), "Correct the request.", error.status_code, error.headers
    )


def no_such_route(path: str) -> JSONResponse:
    """The answer for a path at which there is nothing."""
    detail, step = f"There is nothing at {path}.", "The API is described by /openapi.json."
    return problem("no_such_route", detail, step, HTTPStatus.NOT_FOUND)


async def _surprise(request: Request, error: Exception) -> JSONResponse:
    _log.error("%s %s: unexpected %s", request.method, request.url.path, type(error).__name__)
    return problem(
        "unexpected",
        "Something unexpected went wrong; the log of the server has it.",
        "Try again; if it stays, report it with the lines of the log.",
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )


def _methods_for(request: Request) -> set[str]:
    """The methods there are for a path."""
    return {
        method
        for route in iter_route_contexts(request.app.routes)
        if route.path is not None and compile_path(route.path)[0].match(request.url.path)
        for method in route.methods or ()
    }
