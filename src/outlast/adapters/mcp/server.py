"""A server as this process uses it: connected when it is needed, again when it was lost, never asked twice for what may not be."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import mcp_types as types
from mcp.client import ClientSession
from mcp_types import HEADER_MISMATCH

from outlast.adapters.mcp.config import ServerConfig
from outlast.adapters.mcp.connection import Connection
from outlast.adapters.mcp.exchange import Exchange
from outlast.adapters.mcp.extension import ANSWER, TASKS, TaskBegun
from outlast.adapters.mcp.failure import Kind, ServerFailure, failure_of
from outlast.adapters.mcp.listing import CheckSchema, Listing, listed, read_pages
from outlast.adapters.mcp.pacing import Pacing
from outlast.domain.tool_call import Effect

T = TypeVar("T")

PATIENCE_SECONDS: Final = 2.0
"""A pause before the next attempt to connect that is longer than this is not waited for: the request fails at once."""

IDLE_SECONDS: Final = 300.0
"""After so long without use a connection is given up; the next use makes a new one."""

LISTING_AGE_SECONDS: Final = 300.0
"""How long a list of tools is used without a word of the server that it has changed."""

_MOST_ROUNDS: Final = 3

_log = logging.getLogger(__name__)


class Server:
    """A configured server. Nothing happens before it is first used; errors are ServerFailure and nothing else.

    `check_schema` raises CallerMistake for what is no JSON Schema; `effects` are the effects the configuration states, by tool.
    """

    def __init__(
        self, config: ServerConfig, check_schema: CheckSchema, effects: Mapping[str, Effect] | None = None
    ) -> None:
        self.config = config
        self._check_schema = check_schema
        self._effects = effects or {}
        self._connection: Connection | None = None
        self._opening: asyncio.Task[Connection] | None = None
        self._listing: Listing | None = None
        self._listed_at = -LISTING_AGE_SECONDS
        self._refreshing: asyncio.Task[Listing] | None = None
        self._pacing = Pacing()
        self._protocol_version = ""
        self._is_old = False
        self._used_at = 0.0
        self._idling: asyncio.TimerHandle | None = None
        self._in_use = 0
        self._busy_in_a_row = 0
        self._farewells: dict[asyncio.Task[None], Connection] = {}

    async def listing(self, deadline_seconds: float | None = None) -> Listing:
        """The server's tools: the same list for everybody until it changes, asked for once however many want it.

        It is waited for as long as the server may take to be ready, or to the deadline. While a list that has grown old cannot be had
        anew, the old one serves.
        """
        if self._listing is not None and time.monotonic() - self._listed_at < LISTING_AGE_SECONDS:
            return self._listing
        refreshing = self._refreshing
        if refreshing is None:
            refreshing = self._refreshing = asyncio.create_task(self._refreshed())
            refreshing.add_done_callback(self._forget_refreshing)
        patience = self.config.ready_seconds if deadline_seconds is None else deadline_seconds
        await asyncio.wait({refreshing}, timeout=max(patience, 0.0))
        if refreshing.done() and not refreshing.cancelled() and refreshing.exception() is None:
            return refreshing.result()
        if self._listing is not None:
            return self._listing
        if refreshing.done():
            return refreshing.result()
        detail = f"The MCP server {self.config.name} did not list its tools in time."
        raise ServerFailure(Kind.TIMEOUT, detail, self._look())

    async def call(
        self, name: str, arguments: dict[str, Any], deadline_seconds: float
    ) -> types.CallToolResult | TaskBegun:
        """What a tool answers. Questions it asks before it answers are declined: nobody is there to be asked.

        A call is sent again only where the server says that it did not carry it out.
        """
        until = time.monotonic() + deadline_seconds
        given: dict[str, Any] = {}
        for _ in range(_MOST_ROUNDS):
            answer = await self._called(name, arguments, until, given)
            if not isinstance(answer, types.InputRequiredResult):
                return answer
            given = {"input_responses": self._declined(answer), "request_state": answer.request_state}
        raise ServerFailure(
            Kind.ERROR,
            f"{name} keeps asking questions, and nobody is asked during a call.",
            "Use another tool.",
        )

    async def ask(
        self,
        send: Callable[[ClientSession], Awaitable[T]],
        deadline_seconds: float,
        session: str | None = None,
    ) -> tuple[T, Exchange]:
        """What `send` gives on a connection, and how it went on the wire; in `session` where that must be another one's.

        A request that was surely not carried out is made once more on a new connection.
        """
        until = time.monotonic() + deadline_seconds
        try:
            return await self._once(send, until, session)
        except ServerFailure as failure:
            is_ours = session is None or failure.kind is not Kind.SESSION_LOST
            if not (failure.is_worth_reconnecting and is_ours):
                raise
        return await self._once(send, until, session)

    async def connection(self, deadline_seconds: float | None = None) -> Connection:
        """A connection that is open now, waited for as long as the server may take to be ready, or to the deadline."""
        patience = self.config.ready_seconds if deadline_seconds is None else deadline_seconds
        return await self._connected(time.monotonic() + patience)

    @property
    def protocol_version(self) -> str:
        """The version that was last agreed on; empty before the first connection."""
        return self._protocol_version

    async def close(self) -> None:
        """Close what is open. Safe to call twice; never raises; takes a bounded time."""
        if self._idling is not None:
            self._idling.cancel()
        for task in (self._opening, self._refreshing):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        if self._connection is not None:
            self._let_go(self._connection)
        leaving = dict(self._farewells)
        await asyncio.gather(*(connection.close() for connection in leaving.values()))
        if leaving:
            await asyncio.wait(leaving)

    async def _called(
        self, name: str, arguments: dict[str, Any], until: float, given: Mapping[str, Any]
    ) -> types.CallToolResult | types.InputRequiredResult | TaskBegun:
        params = types.CallToolRequestParams(name=name, arguments=arguments, **given)

        async def send(
            session: ClientSession,
        ) -> types.CallToolResult | types.InputRequiredResult | TaskBegun:
            return await session.send_request(types.CallToolRequest(params=params), ANSWER)

        try:
            answer, _ = await self.ask(send, until - time.monotonic())
        except ServerFailure as failure:
            if failure.rpc_code != HEADER_MISMATCH:
                raise
            # The server wants arguments mirrored in headers, which the library knows to do once it has listed the tool.
            self._listed_at = -LISTING_AGE_SECONDS
            await self.listing(until - time.monotonic())
            answer, _ = await self.ask(send, until - time.monotonic())
        return answer

    def _declined(self, asked: types.InputRequiredResult) -> dict[str, Any]:
        requests = asked.input_requests or {}
        for request in requests.values():
            if not isinstance(request, types.ElicitRequest):
                method = getattr(request, "method", "something")
                detail = f"The MCP server {self.config.name} asks for {method}, which it is not given."
                raise ServerFailure(Kind.ERROR, detail, "Use another tool.")
        return {key: types.ElicitResult(action="decline") for key in requests}

    async def _once(
        self, send: Callable[[ClientSession], Awaitable[T]], until: float, session: str | None
    ) -> tuple[T, Exchange]:
        connection = await self._connected(until)
        exchange = Exchange(session=session, is_session_given=session is not None)
        self._in_use += 1
        try:
            answer = await connection.request(send, max(until - time.monotonic(), 0.0), exchange)
        except Exception as error:
            failure = failure_of(error, exchange, self.config)
            if session is None and self._has_lost_session(failure, exchange):
                self._let_go(connection)
            elif not connection.is_open:
                failure.is_worth_reconnecting = failure.kind is Kind.UNREACHABLE
                self._crashed(connection)
            raise failure from error
        finally:
            self._in_use -= 1
            self._touch()
        self._pacing.note_success()
        self._busy_in_a_row = 0
        return answer, exchange

    def _has_lost_session(self, failure: ServerFailure, exchange: Exchange) -> bool:
        """Is a new session needed? Some servers say of one they do not know that they have no time, so that is believed once."""
        is_busy = failure.kind is Kind.BUSY and exchange.session is not None
        self._busy_in_a_row = self._busy_in_a_row + 1 if is_busy else 0
        return failure.kind is Kind.SESSION_LOST or self._busy_in_a_row > 1

    async def _connected(self, until: float) -> Connection:
        current = self._connection
        if current is not None and current.is_open:
            return current
        if current is not None:
            self._crashed(current)
        if self._opening is None:
            pause = self._pacing.pause_seconds
            if pause > PATIENCE_SECONDS:
                detail = f"The MCP server {self.config.name} keeps failing and is left alone for a while."
                raise ServerFailure(
                    Kind.UNREACHABLE, detail, "`outlast doctor` says why it fails.", retry_after_seconds=pause
                )
            self._opening = asyncio.create_task(self._opened(pause))
            self._opening.add_done_callback(self._forget_opening)
        opening = self._opening
        await asyncio.wait({opening}, timeout=max(until - time.monotonic(), 0.0))
        if not opening.done():
            detail = f"The MCP server {self.config.name} was not ready in time."
            raise ServerFailure(Kind.UNREACHABLE, detail, self._look())
        return opening.result()

    async def _opened(self, pause_seconds: float) -> Connection:
        await asyncio.sleep(pause_seconds)
        try:
            connection = await self._greeted()
        except ServerFailure as failure:
            if self.config.command is None or self._is_old or failure.kind is not Kind.UNREACHABLE:
                self._pacing.note_failure()
                raise
            connection = await self._greeted_as_old()
        self._connection = connection
        self._protocol_version = connection.protocol_version
        self._listed_at = -LISTING_AGE_SECONDS
        self._touch()
        return connection

    async def _greeted(self) -> Connection:
        connection = Connection(self.config, self._note_change, is_old=self._is_old)
        try:
            await connection.open(self.config.ready_seconds)
        except Exception as error:
            raise failure_of(
                error, connection.opening, self.config, chatter=connection.chatter, is_opening=True
            ) from error
        return connection

    async def _greeted_as_old(self) -> Connection:
        """A connection to a program that ends, or says nothing, when it is greeted in a way it does not know."""
        self._is_old = True
        try:
            return await self._greeted()
        except ServerFailure:
            self._is_old = False
            self._pacing.note_failure()
            raise

    async def _refreshed(self) -> Listing:
        until = time.monotonic() + self.config.ready_seconds

        async def next_page(cursor: str | None) -> types.ListToolsResult:
            params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
            page, _ = await self.ask(
                lambda session: session.list_tools(params=params), until - time.monotonic()
            )
            return page

        await self.connection(until - time.monotonic())  # a new one makes every list an old one
        self._listed_at = time.monotonic()
        sent, problems = await read_pages(next_page)
        tools = listed(self.config.name, sent, self._effects, self._check_schema)
        told = (await self.connection(until - time.monotonic())).capabilities
        listing = Listing(tools, tuple(problems), TASKS in (told.extensions or {}), _takes_tasks(told))
        self._listing = listing
        return listing

    def _look(self) -> str:
        return (
            "Look at the log of the server itself; `outlast tools list` asks it again. "
            f"mcp_servers.{self.config.name}.ready_timeout_seconds gives it more time."
        )

    def _note_change(self) -> None:
        """The server says that its tools are others: the list is asked for again when somebody needs it, not here, where only
        reading on can bring the answer."""
        self._listed_at = -LISTING_AGE_SECONDS

    def _crashed(self, connection: Connection) -> None:
        if self._connection is not connection:
            return
        self._pacing.note_crash()
        _log.warning("The MCP server %s ended; it is started anew when it is needed.", self.config.name)
        self._let_go(connection)

    def _let_go(self, connection: Connection) -> None:
        """Give the present connection up, if it still is this one; it ends by itself once its last request has."""
        if self._connection is connection:
            self._connection = None
            farewell = asyncio.create_task(connection.retire())
            self._farewells[farewell] = connection
            farewell.add_done_callback(lambda task: self._farewells.pop(task, None))

    def _touch(self) -> None:
        self._used_at = time.monotonic()
        if self._idling is None:
            self._idling = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._rest)

    def _rest(self) -> None:
        """Give the connection up when it has long been idle, else look again later."""
        self._idling = None
        left = self._used_at + IDLE_SECONDS - time.monotonic()
        if self._in_use or left > 0:
            self._idling = asyncio.get_running_loop().call_later(max(left, 1.0), self._rest)
        elif self._connection is not None:
            self._let_go(self._connection)

    def _forget_opening(self, task: asyncio.Task[Connection]) -> None:
        self._opening = None
        if not task.cancelled():
            task.exception()

    def _forget_refreshing(self, task: asyncio.Task[Listing]) -> None:
        self._refreshing = None
        if not task.cancelled():
            task.exception()


def _takes_tasks(told: types.ServerCapabilities) -> bool:
    """Can calls of tools be made as experimental tasks?"""
    requests = told.tasks.requests if told.tasks else None
    return bool(requests and requests.tools and requests.tools.call is not None)
