"""The older, experimental tasks of the protocol's core (SEP-1686, 2025-11-25): the client asks for them, and results are fetched.

Questions of a task come as requests of the server while its result is waited for, once. The connection they came on keeps them; the
answer may be sent by any process, as the server has them in the session the task was begun in.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import mcp_types as types
from mcp_types import INVALID_PARAMS
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from outlast.adapters.mcp.connection import ConnectionOver
from outlast.adapters.mcp.drivers.kinds import EXPERIMENTAL
from outlast.adapters.mcp.drivers.replies import (
    answer_form,
    cloaked,
    message_of,
    other_principal,
    product_in,
    question_of,
    reply_of,
    seconds_of_ms,
    status_of,
    uncloaked,
)
from outlast.adapters.mcp.exchange import Exchange
from outlast.adapters.mcp.failure import Kind, ServerFailure
from outlast.adapters.mcp.results import error_text
from outlast.adapters.mcp.server import Server
from outlast.adapters.mcp.tap import RAW_TASK
from outlast.ports.background_driver import (
    Acknowledged,
    Answer,
    Forgotten,
    Handle,
    Question,
    RemoteStatus,
    Snapshot,
    Trouble,
)

WANTED_TTL_MS: Final = 7 * 24 * 3600 * 1000
"""How long a server is asked to keep a task; it may decide otherwise."""

_SESSION: Final = "session"
_IMMEDIATE: Final = "io.modelcontextprotocol/model-immediate-response"
_QUESTION_SECONDS: Final = 2.0

R = TypeVar("R", bound=BaseModel)


class OldTask(types.Result):
    """A task as the core protocol of 2025-11-25 has it."""

    model_config = ConfigDict(populate_by_name=True, extra="allow")

    task_id: str = Field(alias="taskId", min_length=1)
    status: str = "working"
    status_message: str | None = Field(default=None, alias="statusMessage")
    ttl: float | None = None
    poll_interval: float | None = Field(default=None, alias="pollInterval")


async def begin(
    server: Server, tool: str, arguments: dict[str, Any], deadline_seconds: float
) -> Handle | types.CallToolResult:
    """Call a tool as a task; a server may answer at once all the same. Raises ServerFailure."""
    params = types.CallToolRequestParams(
        name=tool, arguments=arguments, task=types.TaskMetadata(ttl=WANTED_TTL_MS)
    )
    result, exchange = await server.ask(
        lambda session: session.send_request(types.CallToolRequest(params=params), types.CallToolResult),
        deadline_seconds,
    )
    meta = result.meta or {}
    try:
        task = OldTask.model_validate(meta.get(RAW_TASK), by_name=False)
    except ValidationError:
        return result
    return Handle(
        driver=EXPERIMENTAL,
        server=server.config.name,
        principal=server.config.principal,
        protocol_version=server.protocol_version,
        remote_id=task.task_id,
        data={_SESSION: exchange.session},
        name=tool,
        status_message=message_of(cloaked(meta.get(_IMMEDIATE) or task.status_message, task.task_id)),
        poll_after_seconds=seconds_of_ms(task.poll_interval),
        ttl_seconds=seconds_of_ms(task.ttl),
    )


class ExperimentalDriver:
    """Looks after experimental tasks, in the session they were begun in where their server has sessions."""

    can_cancel = True
    can_answer = True

    def __init__(self, server: Server) -> None:
        self._server = server

    async def poll(self, handle: Handle, deadline_seconds: float) -> Snapshot | Forgotten | Trouble:
        """How the task stands; the result of one that has ended is fetched."""
        request = types.GetTaskRequest(params=types.GetTaskRequestParams(task_id=handle.remote_id))
        task = await self._asked(handle, request, OldTask, deadline_seconds)
        if not isinstance(task, OldTask):
            return task
        match status_of(task.status):
            case RemoteStatus.COMPLETED | RemoteStatus.FAILED as status:
                return await self._ended(handle, task, status, deadline_seconds)
            case RemoteStatus.INPUT_REQUIRED:
                return _open(task, RemoteStatus.INPUT_REQUIRED, await self._questions(handle))
            case status:
                return _open(task, status, {})

    async def answer(
        self, handle: Handle, answers: Mapping[str, Answer], deadline_seconds: float
    ) -> Acknowledged | Forgotten | Trouble:
        """Answer the server's requests, whose ids are the keys."""
        config = self._server.config
        if (refused := other_principal(handle, config)) is not None:
            return refused
        try:
            connection = await self._server.connection(deadline_seconds)
            for key, answer in answers.items():
                await connection.respond(
                    json.loads(uncloaked(key, handle.remote_id)),
                    dict(answer_form(answer)),
                    _session_of(handle),
                )
        except ServerFailure as failure:
            return reply_of(failure, config, handle)
        except (ConnectionOver, ValueError):
            detail = f"The MCP server {config.name} could not be told the answer."
            return Trouble("mcp_unavailable", detail, "It is told again.")
        return Acknowledged()

    async def cancel(self, handle: Handle, deadline_seconds: float) -> Acknowledged | Forgotten | Trouble:
        """Ask that the task be cancelled; one that has ended already needs no more."""
        request = types.CancelTaskRequest(params=types.CancelTaskRequestParams(task_id=handle.remote_id))
        reply = await self._asked(handle, request, OldTask, deadline_seconds)
        return Acknowledged() if isinstance(reply, OldTask | Forgotten) else reply

    async def _ended(
        self, handle: Handle, task: OldTask, status: RemoteStatus, deadline_seconds: float
    ) -> Snapshot | Forgotten | Trouble:
        request = types.GetTaskPayloadRequest(
            params=types.GetTaskPayloadRequestParams(task_id=handle.remote_id)
        )
        try:
            result, _ = await self._asking(handle, request, types.CallToolResult, deadline_seconds)
        except ServerFailure as failure:
            if failure.kind is not Kind.ERROR or failure.rpc_code == INVALID_PARAMS:
                return reply_of(failure, self._server.config, handle)
            code, text = str(failure.rpc_code), message_of(cloaked(failure.detail, handle.remote_id))
            return Snapshot(status=RemoteStatus.FAILED, message=text, error_code=code, error=text)
        product = await product_in(cloaked(result.model_dump(by_alias=True, mode="json"), handle.remote_id))
        message = _message(task)
        if status is RemoteStatus.FAILED:
            error = error_text(product.data)
            return Snapshot(status=status, message=message, error_code="failed", error=error)
        return Snapshot(status=status, message=message, product=product)

    async def _questions(self, handle: Handle) -> dict[str, Question]:
        """What the task asks: it says so to whoever waits for its result."""
        request = types.GetTaskPayloadRequest(
            params=types.GetTaskPayloadRequestParams(task_id=handle.remote_id)
        )
        try:
            connection = await self._server.connection()
        except ServerFailure:
            return {}
        waiting = asyncio.ensure_future(
            self._asking(handle, request, types.CallToolResult, 2 * _QUESTION_SECONDS)
        )
        try:
            asked = await connection.questions(handle.remote_id, _QUESTION_SECONDS)
        finally:
            waiting.cancel()
            await asyncio.wait({waiting})
        return {
            cloaked(json.dumps(request_id), handle.remote_id): question_of(
                cloaked({"method": one.method, "params": one.params}, handle.remote_id)
            )
            for request_id, one in asked.items()
        }

    async def _asked(
        self, handle: Handle, request: types.Request[Any, Any], model: type[R], deadline_seconds: float
    ) -> R | Forgotten | Trouble:
        config = self._server.config
        if (refused := other_principal(handle, config)) is not None:
            return refused
        try:
            reply, _ = await self._asking(handle, request, model, deadline_seconds)
        except ServerFailure as failure:
            return reply_of(failure, config, handle)
        return reply

    async def _asking(
        self, handle: Handle, request: types.Request[Any, Any], model: type[R], deadline_seconds: float
    ) -> tuple[R, Exchange]:
        """The answer, in the task's own session; where that is lost, in one of ours, for not every server minds."""

        async def send(session: Any) -> R:
            reply: R = await session.send_request(request, model)
            return reply

        try:
            return await self._server.ask(send, deadline_seconds, _session_of(handle))
        except ServerFailure as failure:
            if failure.kind is not Kind.SESSION_LOST:
                raise
        return await self._server.ask(send, deadline_seconds)


def _open(task: OldTask, status: RemoteStatus, questions: Mapping[str, Question]) -> Snapshot:
    return Snapshot(
        status=status,
        message=_message(task),
        questions=questions,
        poll_after_seconds=seconds_of_ms(task.poll_interval),
        ttl_seconds=seconds_of_ms(task.ttl),
    )


def _message(task: OldTask) -> str:
    return message_of(cloaked(task.status_message, task.task_id))


def _session_of(handle: Handle) -> str | None:
    session = handle.data.get(_SESSION)
    return session if isinstance(session, str) else None
