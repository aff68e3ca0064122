"""What may go wrong with a request to a server, told apart by what may be done about it."""

from __future__ import annotations

from enum import Enum
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, METHOD_NOT_FOUND, PARSE_ERROR
from pydantic import ValidationError

from outlast.adapters.mcp.config import ServerConfig, without_secrets
from outlast.adapters.mcp.connection import ConnectionOver, Unanswered
from outlast.adapters.mcp.exchange import Exchange
from outlast.adapters.mcp.lines import MOST_MESSAGE_BYTES, UNREADABLE
from outlast.domain.bounded import bound
from outlast.domain.door import clean_text

_MOST_TOLD_BYTES: Final = 1_000
_BUSY: Final = frozenset({429, 502, 503, 504})
_SESSION_STATUS: Final = frozenset({400, 404})

_OF_THE_LIBRARY: Final = ("Connection closed", "SSE stream")
"""How messages begin that the library made up; it uses a code that servers use too."""

_MOST_SHOWN: Final = f"{MOST_MESSAGE_BYTES // (1024 * 1024)} MiB"
_LESS: Final = "Ask it for less at once."

_TELL_ITS_MAKER: Final = "Tell whoever makes the server."

_UNREADABLE: Final = (UNREADABLE, "Failed to parse")
"""How messages begin that stand, here and in the library, in the place of an answer nobody can read."""

_NO_BODY: Final = "Server returned an error response"
"""What the library says of an error whose body it could not read."""


class Kind(Enum):
    """What happened to a request."""

    NOT_STARTED = "the program of the server cannot be started"
    UNREACHABLE = "the server cannot be reached; nothing was sent"
    REFUSED = "the server, or the one that gives tokens for it, refuses who we are"
    SESSION_LOST = "the server does not know our session any more and did nothing"
    BUSY = "something before or in the server has no time for us"
    BROKEN_OFF = "the connection ended before the answer; nobody knows what was done"
    TIMEOUT = "the answer did not come in time; nobody knows what was done"
    ERROR = "the server answered with an error"
    NONSENSE = "the server answered, with what the protocol does not allow"


NEVER_RAN: Final = frozenset({Kind.NOT_STARTED, Kind.UNREACHABLE, Kind.REFUSED, Kind.SESSION_LOST})
"""After these a request may be made again whatever it does: it was not carried out."""

UNSURE: Final = frozenset({Kind.BROKEN_OFF, Kind.TIMEOUT, Kind.BUSY})
"""After these nobody knows whether it was."""


class ServerFailure(Exception):
    """A request that came to nothing.

    `detail` is for people and holds no secret; `rpc_code` is the code of an ERROR, `retry_after_seconds` the server's own wish.
    `is_worth_reconnecting` says that the connection is to blame and nothing was done, so that a new one may serve at once.
    """

    def __init__(
        self,
        kind: Kind,
        detail: str,
        next_step: str = "",
        *,
        rpc_code: int | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.next_step = next_step
        self.rpc_code = rpc_code
        self.retry_after_seconds = retry_after_seconds
        self.is_worth_reconnecting = kind is Kind.SESSION_LOST


def failure_of(
    error: BaseException,
    exchange: Exchange,
    config: ServerConfig,
    *,
    chatter: str = "",
    is_opening: bool = False,
) -> ServerFailure:
    """What an error of a request to this server means. `chatter` is what its program wrote to stderr."""
    failure = _of_http(exchange, config) or _of_error(error, exchange, config, is_opening=is_opening)
    if is_opening and chatter:
        said = bound(clean_text(chatter), _MOST_TOLD_BYTES).shown
        failure.detail = f"{failure.detail} It wrote: {said}"
    failure.detail = without_secrets(failure.detail, config.secrets)
    return failure


def _of_http(exchange: Exchange, config: ServerConfig) -> ServerFailure | None:
    """What HTTP tells, which the client library does not pass on."""
    where = f"The MCP server {config.name} ({shown_url(config)})"
    if exchange.refusal is not None:
        return ServerFailure(
            Kind.REFUSED,
            f"No token could be had for the MCP server {config.name}: {exchange.refusal}",
            f"Check mcp_servers.{config.name}.oauth: issuer, client_id, client_secret, scope.",
        )
    if exchange.status in (401, 403):
        return ServerFailure(
            Kind.REFUSED,
            f"{where} refuses the credentials (HTTP {exchange.status}).",
            f"Check mcp_servers.{config.name}.headers or .oauth, and what the account may do.",
        )
    if exchange.is_too_large:
        return ServerFailure(
            Kind.NONSENSE, f"{where} answered with more than the {_MOST_SHOWN} that are read.", _LESS
        )
    if exchange.is_compressed:
        return ServerFailure(
            Kind.NONSENSE,
            f"{where} answered with a compressed body, though asked for a plain one.",
            "Switch compression off at the server, or at the proxy before it.",
        )
    if exchange.failure is not None:
        kind = Kind.BROKEN_OFF if exchange.was_sent else Kind.UNREACHABLE
        what = "broke the connection off" if exchange.was_sent else "cannot be reached"
        return ServerFailure(
            kind,
            f"{where} {what} ({type(exchange.failure).__name__}).",
            "See that it runs and the address is right.",
        )
    if exchange.status in _BUSY:
        return ServerFailure(
            Kind.BUSY,
            f"{where} has no time (HTTP {exchange.status}).",
            "Try again later.",
            retry_after_seconds=_seconds(exchange.retry_after),
        )
    return None


def _of_error(
    error: BaseException, exchange: Exchange, config: ServerConfig, *, is_opening: bool
) -> ServerFailure:
    where = f"The MCP server {config.name}"
    match error:
        case MCPError():
            return _of_rpc(error, exchange, config, is_opening=is_opening)
        case TimeoutError():
            return _of_timeout(config, is_opening=is_opening)
        case Unanswered():
            detail = f"{where} answered with what is no answer to the request."
            return ServerFailure(Kind.NONSENSE, detail, _TELL_ITS_MAKER)
        case ConnectionOver(is_too_large=True):
            kind = Kind.NONSENSE if is_opening else Kind.BROKEN_OFF
            return ServerFailure(
                kind,
                f"{where} sent a message of more than the {_MOST_SHOWN} that are read; it was ended.",
                _LESS,
            )
        case ConnectionOver(was_sent=was_sent):
            kind = Kind.BROKEN_OFF if was_sent else Kind.UNREACHABLE
            return ServerFailure(
                kind, f"{where} ended before it answered.", "See why it ends; it is started anew."
            )
        case OSError():
            return ServerFailure(
                Kind.NOT_STARTED,
                f"{where} cannot be started: {config.command}: {error.strerror or error}.",
                f"Install the program, or correct mcp_servers.{config.name}.command; PATH is this process's own.",
            )
        case ValidationError():
            fields = ", ".join(".".join(map(str, one["loc"])) for one in error.errors()[:3])
            detail = f"{where} answered with what the protocol does not allow ({fields})."
            return ServerFailure(Kind.NONSENSE, detail, _TELL_ITS_MAKER)
        case _:
            detail = f"{where} cannot be talked to: {type(error).__name__}: {error}"
            return ServerFailure(Kind.NONSENSE, detail, "See that it is an MCP server, and of which version.")


def _of_timeout(config: ServerConfig, *, is_opening: bool) -> ServerFailure:
    if is_opening:
        detail = f"The MCP server {config.name} did not get ready in time."
        step = f"See what it waits for, or raise mcp_servers.{config.name}.ready_timeout_seconds."
        return ServerFailure(Kind.UNREACHABLE, detail, step)
    detail = f"The MCP server {config.name} did not answer in time."
    return ServerFailure(
        Kind.TIMEOUT, detail, f"Raise mcp_servers.{config.name}.timeout_seconds, or ask for less."
    )


def _of_rpc(error: MCPError, exchange: Exchange, config: ServerConfig, *, is_opening: bool) -> ServerFailure:
    where = f"The MCP server {config.name}"
    if _is_session_lost(error, exchange):
        return ServerFailure(Kind.SESSION_LOST, f"{where} has lost our session.", "Try again.")
    if error.code == CONNECTION_CLOSED and error.message.startswith(_OF_THE_LIBRARY):
        kind = Kind.UNREACHABLE if is_opening else Kind.BROKEN_OFF
        return ServerFailure(
            kind, f"{where} ended before it answered.", "See why it ends; it is started anew."
        )
    if error.code == PARSE_ERROR and error.message.startswith(_UNREADABLE):
        why = bound(clean_text(error.message.partition(": ")[2].splitlines()[0]), _MOST_TOLD_BYTES).shown
        return ServerFailure(
            Kind.NONSENSE, f"{where} answered with what cannot be read ({why}).", _TELL_ITS_MAKER
        )
    if is_opening and error.code == METHOD_NOT_FOUND and exchange.status == 404:
        detail = f"There is no MCP server at {shown_url(config)} (HTTP 404)."
        return ServerFailure(
            Kind.NONSENSE, detail, f"Correct mcp_servers.{config.name}.url; it often ends in /mcp."
        )
    said = bound(clean_text(error.message), _MOST_TOLD_BYTES).shown
    status = f", HTTP {exchange.status}" if exchange.status not in (None, 200) else ""
    detail = f"{where} answered with an error ({error.code}{status}): {said}"
    return ServerFailure(Kind.ERROR, detail, rpc_code=error.code)


def _is_session_lost(error: MCPError, exchange: Exchange) -> bool:
    """Is this the refusal of a session rather than of the request? Only where the request named one.

    A 400 whose body the library could not read is taken for one too: servers that lost their sessions answer like that.
    """
    if exchange.session is None or exchange.status not in _SESSION_STATUS:
        return False
    return exchange.status == 404 or "session" in error.message.lower() or error.message == _NO_BODY


def _seconds(retry_after: str | None) -> float | None:
    """What `Retry-After` says in seconds; its form with a date is not read."""
    return float(retry_after) if retry_after is not None and retry_after.strip().isdecimal() else None


def shown_url(config: ServerConfig) -> str:
    """Where the server is, without what may be a secret: user, password, query."""
    scheme, separator, rest = (config.url or "").partition("://")
    return (
        scheme + separator + rest.partition("?")[0].partition("#")[0].rpartition("@")[2]
        if config.url
        else "a program"
    )
