"""One connection to a server, opened, kept and closed by a task of its own, whatever becomes of the tasks that use it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import mcp_types as types
from mcp import Client
from mcp.client import ClientRequestContext, ClientSession
from mcp.client._transport import TransportStreams, WriteStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse, RequestId
from pydantic import ValidationError

from outlast.adapters.mcp.config import ServerConfig
from outlast.adapters.mcp.credentials import CredentialsAuth
from outlast.adapters.mcp.exchange import CURRENT, Exchange
from outlast.adapters.mcp.extension import TasksExtension
from outlast.adapters.mcp.lines import MOST_MESSAGE_BYTES
from outlast.adapters.mcp.program import Chatter, program
from outlast.adapters.mcp.tap import Tap
from outlast.adapters.mcp.wire import client as http_client

T = TypeVar("T")

CLOSE_SECONDS: Final = 8.0
"""How long a server may take to go away before the connection is torn down."""

_CANCEL_SECONDS: Final = 1.0
_MOST_NOISE_TOLD: Final = 5
_MOST_TASKS_ASKING: Final = 1_000
_LIBRARY_LOGS: Final = ("client", "mcp.client.stdio", "mcp.client.streamable_http", "mcp.shared")

_log = logging.getLogger(__name__)


class ConnectionOver(Exception):
    """The connection ended. `was_sent` says whether the request may have reached the server, `is_too_large` whether it was ended
    because the server sent more than may be read."""

    def __init__(self, was_sent: bool, *, is_too_large: bool = False) -> None:
        super().__init__("the connection ended")
        self.was_sent = was_sent
        self.is_too_large = is_too_large


class Unanswered(Exception):
    """The server ended its response to the request, and what it said was no answer to it."""


class Connection:
    """A connection that is used once: `open`, any number of `request`s side by side, `close`.

    `on_tools_changed` is called, by the task that reads, whenever the server says that its tools are others. A server that
    `is_old` is greeted as before 2026-07-28, without being asked what else it knows.
    """

    def __init__(
        self, config: ServerConfig, on_tools_changed: Callable[[], None], *, is_old: bool = False
    ) -> None:
        self._config = config
        self._is_old = is_old
        self._on_tools_changed = on_tools_changed
        self._chatter = Chatter()
        self._noise = 0
        self._is_too_large = False
        self._client: Client | None = None
        self._ready = asyncio.Event()
        self._ending = asyncio.Event()
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owner: asyncio.Task[None] | None = None
        self._asking: set[asyncio.Task[Any]] = set()
        self._writing: WriteStream[SessionMessage] | None = None
        self._questions: dict[str, dict[RequestId, JSONRPCRequest]] = {}
        self._questioned = asyncio.Event()
        self.opening = Exchange()

    @property
    def is_open(self) -> bool:
        """May requests be made?"""
        return self._client is not None and not self._over.done()

    @property
    def protocol_version(self) -> str:
        """The version the two sides agreed on."""
        assert self._client is not None
        return self._client.protocol_version

    @property
    def capabilities(self) -> types.ServerCapabilities:
        """What the server says it can do."""
        assert self._client is not None
        return self._client.server_capabilities

    @property
    def chatter(self) -> str:
        """The last of what a program wrote to stderr."""
        return self._chatter.text

    async def open(self, deadline_seconds: float) -> None:
        """Be ready for requests. Raises whatever kept it from that, TimeoutError included; nothing is then left open."""
        _quieten()
        context = contextvars.copy_context()
        context.run(CURRENT.set, self.opening)
        self._owner = asyncio.create_task(self._live(), context=context)
        self._owner.add_done_callback(_forget)
        readying = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait(
                {self._owner, readying}, timeout=deadline_seconds, return_when=asyncio.FIRST_COMPLETED
            )
        except asyncio.CancelledError:
            await self.close(at_once=True)
            raise
        finally:
            readying.cancel()
        if self._owner.done():
            if self._is_too_large:
                raise self._gone(was_sent=True)
            raise first_of(self._owner.exception()) or ConnectionOver(was_sent=False)
        if not self._ready.is_set():
            await self.close(at_once=True)
            raise TimeoutError

    async def request(
        self, send: Callable[[ClientSession], Awaitable[T]], deadline_seconds: float, exchange: Exchange
    ) -> T:
        """What `send` gives, made by a task of its own.

        Raises TimeoutError at the deadline, or Unanswered where all was said by then, ConnectionOver when the connection ended, and
        what the library raises. Cancelled, it tells the server so.
        """
        if self._client is None or self._over.done():
            raise ConnectionOver(was_sent=False)
        context = contextvars.copy_context()
        context.run(CURRENT.set, exchange)
        asking = asyncio.create_task(_sent(send, self._client.session), context=context)
        self._asking.add(asking)
        try:
            first: set[asyncio.Future[Any]] = {asking, self._over}
            await asyncio.wait(first, timeout=deadline_seconds, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return self._result_of(asking)
            if self._over.done():
                raise self._gone(was_sent=True)
            raise Unanswered if exchange.is_complete else TimeoutError
        finally:
            if not asking.done():
                asking.cancel()
                await asyncio.wait({asking}, timeout=_CANCEL_SECONDS)
            self._asking.discard(asking)

    async def questions(self, task: str, patience_seconds: float) -> dict[RequestId, JSONRPCRequest]:
        """What the server asked on behalf of an experimental task, by the ids of its requests; waits a while for the first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience_seconds):
                while task not in self._questions:
                    self._questioned.clear()
                    await self._questioned.wait()
        return dict(self._questions.get(task, {}))

    async def respond(self, request_id: RequestId, result: dict[str, Any], session: str | None) -> None:
        """Answer a request of the server, of this connection or of an earlier one. Raises ConnectionOver."""
        if self._writing is None or self._over.done():
            raise ConnectionOver(was_sent=False)
        for asked in self._questions.values():
            asked.pop(request_id, None)
        token = CURRENT.set(Exchange(session=session, is_session_given=session is not None))
        try:
            await self._writing.send(
                SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result))
            )
        finally:
            CURRENT.reset(token)

    async def retire(self) -> None:
        """Close the connection once the requests on it have ended, each of which has a deadline."""
        while self._asking and self.is_open:
            await asyncio.wait(set(self._asking), timeout=CLOSE_SECONDS)
        await self.close()

    async def close(self, *, at_once: bool = False) -> None:
        """End the connection, and the program at its other end. Never raises; takes a bounded time."""
        self._ending.set()
        owner = self._owner
        if owner is None or owner is asyncio.current_task():
            return
        if not at_once:
            await _ended(owner)
        if not owner.done():
            if not owner.cancelling():
                owner.cancel()
            await _ended(owner)

    async def _live(self) -> None:
        """The whole life of the connection, in one task: the library wants to be left by the task that entered it."""
        try:
            client = Client(
                self._transport(),
                mode="legacy" if self._is_old else "auto",
                extensions=[TasksExtension()],
                elicitation_callback=self._decline,
                message_handler=self._hear,
                cache=None,
            )
            async with client:
                self._client = client
                self._ready.set()
                await self._ending.wait()
        finally:
            self._end()

    @asynccontextmanager
    async def _transport(self) -> AsyncIterator[TransportStreams]:
        config = self._config
        async with contextlib.AsyncExitStack() as stack:
            if config.url is not None:
                auth = CredentialsAuth(config.url, config.oauth) if config.oauth else None
                http = await stack.enter_async_context(http_client(dict(config.headers), auth))
                streams = streamable_http_client(
                    config.url,
                    http_client=http,
                    terminate_on_close=not config.has_experimental_tasks,
                    max_sse_event_size=MOST_MESSAGE_BYTES,
                )
            else:
                streams = program(config, self._chatter, self._note_flood)
            reading, writing = await stack.enter_async_context(streams)
            self._writing = writing
            yield (
                Tap(reading, self._end, self._note_noise, self._keep_question, self._config.secrets),
                writing,
            )

    def _end(self) -> None:
        if not self._over.done():
            self._over.set_result(None)
        self._ending.set()

    def _note_noise(self, noise: Exception) -> None:
        """A line of a program that is no message is skipped; the first few are told, never what they say."""
        self._noise += 1
        if self._noise <= _MOST_NOISE_TOLD:
            _log.info("The MCP server %s sent something that is no message; skipped.", self._config.name)

    def _note_flood(self) -> None:
        """The program sent more than may be read."""
        self._is_too_large = True
        self._end()

    def _gone(self, was_sent: bool) -> ConnectionOver:
        return ConnectionOver(was_sent, is_too_large=self._is_too_large)

    def _result_of(self, asking: asyncio.Task[T]) -> T:
        error = asking.exception()
        if error is None:
            return asking.result()
        found = first_of(error)
        if self._over.done() and not isinstance(found, ValidationError):
            raise self._gone(was_sent=True) from found
        raise found or error

    def _keep_question(self, task: str, request: JSONRPCRequest) -> None:
        while len(self._questions) >= _MOST_TASKS_ASKING:
            del self._questions[next(iter(self._questions))]
        self._questions.setdefault(task, {})[request.id] = request
        self._questioned.set()

    async def _hear(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._on_tools_changed()

    async def _decline(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        """No person is there during an ordinary call, so that a question is declined."""
        return types.ElicitResult(action="decline")


async def _ended(owner: asyncio.Task[None]) -> None:
    """Wait a bounded time for the end of a connection, also when cancelled meanwhile, which is then heard of afterwards.

    Whoever went on would leave the program running, and one more cancel of the owner would defeat the library's own ending of it.
    """
    until, heard = time.monotonic() + CLOSE_SECONDS, None
    while not owner.done() and (left := until - time.monotonic()) > 0:
        try:
            await asyncio.wait({owner}, timeout=left)
        except asyncio.CancelledError as cancelled:
            heard = cancelled
    if heard is not None:
        raise heard


def _forget(owner: asyncio.Task[None]) -> None:
    """How a connection ended is seen by its requests; what its task raised is nobody else's business."""
    if not owner.cancelled():
        owner.exception()


async def _sent(send: Callable[[ClientSession], Awaitable[T]], session: ClientSession) -> T:
    return await send(session)


def first_of(error: BaseException | None) -> BaseException | None:
    """The first error in nested groups of them; the library raises such groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _quieten() -> None:
    """The library logs, at ERROR and with what came, each thing a server does wrong; it is told by us, in short and once."""
    for name in _LIBRARY_LOGS:
        library = logging.getLogger(name)
        if library.level == logging.NOTSET:
            library.setLevel(logging.CRITICAL)
