"""Tasks of the extension `io.modelcontextprotocol/tasks` (SEP-2663): a server may answer any call with one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import mcp_types as types
from pydantic import BaseModel

from outlast.adapters.mcp.drivers.kinds import EXTENSION
from outlast.adapters.mcp.drivers.replies import (
    answer_form,
    cloaked,
    message_of,
    nonsense,
    other_principal,
    product_in,
    questions_in,
    reply_of,
    seconds_of_ms,
    status_of,
    uncloaked,
)
from outlast.adapters.mcp.extension import (
    CancelTask,
    GetTask,
    TaskAnswered,
    TaskBegun,
    TaskNamed,
    TaskState,
    UpdateTask,
)
from outlast.adapters.mcp.failure import ServerFailure
from outlast.adapters.mcp.server import Server
from outlast.ports.background_driver import (
    Acknowledged,
    Answer,
    Forgotten,
    Handle,
    RemoteStatus,
    Snapshot,
    Trouble,
)

R = TypeVar("R", bound=BaseModel)

_TOLD: Final = {"status_message", "result", "error", "input_requests"}


def handle_of(begun: TaskBegun, server: Server, name: str) -> Handle:
    """The handle of a task a call went on as."""
    return Handle(
        driver=EXTENSION,
        server=server.config.name,
        principal=server.config.principal,
        protocol_version=server.protocol_version,
        remote_id=begun.task_id,
        name=name,
        status_message=message_of(cloaked(begun.status_message, begun.task_id)),
        poll_after_seconds=seconds_of_ms(begun.poll_interval_ms),
        ttl_seconds=seconds_of_ms(begun.ttl_ms),
    )


class ExtensionDriver:
    """Looks after tasks by `tasks/get`, `tasks/update` and `tasks/cancel`."""

    can_cancel = True
    can_answer = True

    def __init__(self, server: Server) -> None:
        self._server = server

    async def poll(self, handle: Handle, deadline_seconds: float) -> Snapshot | Forgotten | Trouble:
        """How the task stands, its result with it."""
        request = GetTask(params=TaskNamed(task_id=handle.remote_id))
        state = await self._asked(handle, request, TaskState, deadline_seconds)
        if not isinstance(state, TaskState):
            return state
        if state.task_id != handle.remote_id:
            return nonsense(self._server.config, "it is about another task")
        return await self._snapshot(state, handle.remote_id)

    async def answer(
        self, handle: Handle, answers: Mapping[str, Answer], deadline_seconds: float
    ) -> Acknowledged | Forgotten | Trouble:
        """Send answers; the server ignores those it has already."""
        responses: dict[str, Any] = {
            uncloaked(key, handle.remote_id): answer_form(answer) for key, answer in answers.items()
        }
        request = UpdateTask(params=TaskAnswered(task_id=handle.remote_id, input_responses=responses))
        reply = await self._asked(handle, request, types.Result, deadline_seconds)
        return Acknowledged() if isinstance(reply, types.Result) else reply

    async def cancel(self, handle: Handle, deadline_seconds: float) -> Acknowledged | Forgotten | Trouble:
        """Ask that the task be cancelled."""
        request = CancelTask(params=TaskNamed(task_id=handle.remote_id))
        reply = await self._asked(handle, request, types.Result, deadline_seconds)
        return Acknowledged() if isinstance(reply, types.Result) else reply

    async def _asked(
        self, handle: Handle, request: types.Request[Any, Any], model: type[R], deadline_seconds: float
    ) -> R | Forgotten | Trouble:
        config = self._server.config
        if (refused := other_principal(handle, config)) is not None:
            return refused
        try:
            reply, _ = await self._server.ask(
                lambda session: session.send_request(request, model), deadline_seconds
            )
        except ServerFailure as failure:
            return reply_of(failure, config, handle)
        return reply

    async def _snapshot(self, state: TaskState, remote_id: str) -> Snapshot:
        status = status_of(state.status)
        told = cloaked(state.model_dump(include=_TOLD), remote_id)
        error = told["error"] or {}
        is_done, has_failed = status is RemoteStatus.COMPLETED, status is RemoteStatus.FAILED
        return Snapshot(
            status=status,
            message=message_of(told["status_message"]),
            product=await product_in(told["result"]) if is_done else None,
            error_code=message_of(error.get("code", "failed")) if has_failed else None,
            error=message_of(error.get("message") or "The server does not say why.") if has_failed else None,
            questions=questions_in(told["input_requests"]) if status is RemoteStatus.INPUT_REQUIRED else {},
            poll_after_seconds=seconds_of_ms(state.poll_interval_ms),
            ttl_seconds=seconds_of_ms(state.ttl_ms),
        )
