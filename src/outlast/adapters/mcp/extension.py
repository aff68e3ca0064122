"""The extension for background tasks (SEP-2663, `io.modelcontextprotocol/tasks`) as the client library wants it described.

Source: https://modelcontextprotocol.io, extension "tasks", edition 2026-07-28.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

import mcp_types as types
from mcp.client import ClaimContext, ClientExtension, ResultClaim
from pydantic import ConfigDict, Field, TypeAdapter

TASKS: Final = "io.modelcontextprotocol/tasks"


class TaskFields(types.Result):
    """What both the beginning of a task and its later states tell. Statuses nobody knows are let through."""

    model_config = ConfigDict(populate_by_name=True, extra="allow")

    task_id: str = Field(alias="taskId", min_length=1)
    status: str = "working"
    ttl_ms: float | None = Field(default=None, alias="ttlMs")
    poll_interval_ms: float | None = Field(default=None, alias="pollIntervalMs")
    status_message: str | None = Field(default=None, alias="statusMessage")


class TaskBegun(TaskFields):
    """The answer to a call that goes on as a task."""

    result_type: Literal["task"] = Field(alias="resultType")


class TaskState(TaskFields):
    """The answer to `tasks/get`. The specification's own examples differ in the result type, so any is taken."""

    result_type: str | None = Field(default=None, alias="resultType")
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    input_requests: dict[str, Any] | None = Field(default=None, alias="inputRequests")


class TaskNamed(types.RequestParams):
    """Which task a request is about."""

    task_id: str = Field(serialization_alias="taskId")


class TaskAnswered(TaskNamed):
    """Answers to a task's questions, by their keys."""

    input_responses: dict[str, Any] = Field(serialization_alias="inputResponses")


class GetTask(types.Request[TaskNamed, Literal["tasks/get"]]):
    """How does the task stand?"""

    method: Literal["tasks/get"] = "tasks/get"
    params: TaskNamed
    name_param = "taskId"


class UpdateTask(types.Request[TaskAnswered, Literal["tasks/update"]]):
    """Here are answers."""

    method: Literal["tasks/update"] = "tasks/update"
    params: TaskAnswered
    name_param = "taskId"


class CancelTask(types.Request[TaskNamed, Literal["tasks/cancel"]]):
    """Stop the task."""

    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: TaskNamed
    name_param = "taskId"


class TasksExtension(ClientExtension):
    """Says to servers that calls may be answered with a task."""

    identifier = TASKS

    def claims(self) -> Sequence[ResultClaim[Any]]:
        """The one shape of result that is ours."""
        return (ResultClaim(result_type="task", model=TaskBegun, resolve=_never_resolved),)


async def _never_resolved(begun: TaskBegun, context: ClaimContext) -> types.CallToolResult:
    raise AssertionError("a task is looked after by workers, never by the call that began it")


ANSWER: Final[TypeAdapter[TaskBegun | types.InputRequiredResult | types.CallToolResult]] = TypeAdapter(
    Annotated[TaskBegun | types.InputRequiredResult | types.CallToolResult, Field(union_mode="left_to_right")]
)
"""Any answer to a call of a tool."""
