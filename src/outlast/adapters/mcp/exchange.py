"""One request as HTTP saw it. The client library tells little of what went wrong below it, so the transport notes it here."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

import httpx2

from outlast.domain.dataclass import dataclass

SESSION_HEADER: Final = "mcp-session-id"


@dataclass(slots=True)
class Exchange:
    """What became of one request on the wire.

    `status` is that of the last response, `is_complete` whether it came to its end, `failure` the error in whose place the transport
    made a response up, `refusal` what kept a token from being had, `session` the session the request was sent in. A `session` given
    beforehand takes the place of the connection's own.
    """

    status: int | None = None
    retry_after: str | None = None
    failure: httpx2.TransportError | None = None
    refusal: Exception | None = None
    is_too_large: bool = False
    is_compressed: bool = False
    is_complete: bool = False
    was_sent: bool = False
    session: str | None = None
    is_session_given: bool = False


CURRENT: Final[ContextVar[Exchange | None]] = ContextVar("outlast_mcp_exchange", default=None)
"""The exchange of the request that is being made; the library hands the context of a request on to its transport."""
