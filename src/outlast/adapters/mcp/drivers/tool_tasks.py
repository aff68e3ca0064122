"""Tasks made of ordinary tools: one that begins the work, one that tells how it stands, others to cancel and to answer.

Only structured results are read, never text:

    submit  -> {"task_id", "status"}
    status  {"task_id"} -> {"task_id", "status", "result"?, "error"?, "error_code"?, "input_required"?, "poll_after_seconds"?}
    cancel  {"task_id"} -> {"task_id", "status"}
    answer  {"task_id", "key", "response": {"action", "content"?}} -> {"task_id", "status"}

`status` is running, input_required, completed, failed or cancelled; `error_code` task_not_found says that the task is not known;
`input_required` is `{KEY: {"message", "schema"?, "url"?}}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types

from outlast.adapters.mcp.config import TaskTools
from outlast.adapters.mcp.drivers.kinds import TOOLS
from outlast.adapters.mcp.drivers.replies import (
    answer_form,
    cloaked,
    message_of,
    nonsense,
    other_principal,
    question_of,
    reply_of,
    seconds_in,
    status_of,
    uncloaked,
)
from outlast.adapters.mcp.failure import ServerFailure
from outlast.adapters.mcp.results import Contents, error_text, product_of, read_result
from outlast.adapters.mcp.server import Server
from outlast.domain.door import clean_text
from outlast.domain.errors import ToolTrouble
from outlast.ports.background_driver import (
    Acknowledged,
    Answer,
    Forgotten,
    Handle,
    Product,
    Question,
    RemoteStatus,
    Snapshot,
    Trouble,
)

MOST_ID_CHARACTERS: Final = 255
NOT_FOUND: Final = "task_not_found"

_SUBMIT: Final = "submit"
_MOST_QUESTIONS: Final = 20


def handle_in(result: types.CallToolResult, server: Server, tool: str) -> Handle:
    """The handle a submitting tool gave. Raises ToolTrouble (`invalid_output`) when its structured result holds none."""
    told = _structured(result)
    task_id = told.get("task_id")
    if not isinstance(task_id, str) or not 1 <= len(task_id) <= MOST_ID_CHARACTERS:
        raise ToolTrouble(
            "invalid_output",
            f"{tool} is configured to begin a background task, and its structured result names no task_id.",
            f"Correct mcp_servers.{server.config.name}.tasks, or the tool.",
        )
    return Handle(
        driver=TOOLS,
        server=server.config.name,
        principal=server.config.principal,
        protocol_version=server.protocol_version,
        remote_id=task_id,
        data={_SUBMIT: tool},
        name=tool,
        poll_after_seconds=seconds_in(told.get("poll_after_seconds")),
    )


class ToolDriver:
    """Looks after tasks by the tools the configuration names for the one that began them."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._groups = {group.submit: group for group in server.config.task_tools}
        self.can_cancel = any(group.cancel for group in self._groups.values())
        self.can_answer = any(group.answer for group in self._groups.values())

    async def poll(self, handle: Handle, deadline_seconds: float) -> Snapshot | Forgotten | Trouble:
        """How the task stands, by its status tool."""
        group = self._group(handle)
        if isinstance(group, Trouble):
            return group
        told = await self._called(handle, group.status, {}, deadline_seconds)
        if isinstance(told, Forgotten | Trouble):
            return told
        return await self._snapshot(cloaked(told, handle.remote_id))

    async def answer(
        self, handle: Handle, answers: Mapping[str, Answer], deadline_seconds: float
    ) -> Acknowledged | Forgotten | Trouble:
        """Give the answering tool each answer by itself."""
        group = self._group(handle)
        if isinstance(group, Trouble):
            return group
        if group.answer is None:
            return self._lacking("answer", group)
        for key, answer in answers.items():
            arguments = {"key": uncloaked(key, handle.remote_id), "response": answer_form(answer)}
            told = await self._called(handle, group.answer, arguments, deadline_seconds / len(answers))
            if isinstance(told, Forgotten | Trouble):
                return told
        return Acknowledged()

    async def cancel(self, handle: Handle, deadline_seconds: float) -> Acknowledged | Forgotten | Trouble:
        """Call the cancelling tool."""
        group = self._group(handle)
        if isinstance(group, Trouble):
            return group
        if group.cancel is None:
            return self._lacking("cancel", group)
        told = await self._called(handle, group.cancel, {}, deadline_seconds)
        return told if isinstance(told, Forgotten | Trouble) else Acknowledged()

    def _group(self, handle: Handle) -> TaskTools | Trouble:
        config = self._server.config
        if (refused := other_principal(handle, config)) is not None:
            return refused
        submit = str(handle.data.get(_SUBMIT))
        group = self._groups.get(submit)
        if group is not None:
            return group
        detail = f"mcp_servers.{config.name}.tasks names no group with submit: {submit} any more."
        return Trouble("mcp_protocol", detail, "Put it back until its tasks have ended.", passing=False)

    def _lacking(self, what: str, group: TaskTools) -> Trouble:
        where = f"mcp_servers.{self._server.config.name}.tasks"
        detail = f"{where} names no {what} tool for {group.submit}."
        return Trouble("mcp_protocol", detail, "Name one, if the server has it.", passing=False)

    async def _called(
        self, handle: Handle, tool: str, arguments: Mapping[str, Any], deadline_seconds: float
    ) -> dict[str, Any] | Forgotten | Trouble:
        """The structured result of one of the tools, about the right task."""
        config = self._server.config
        try:
            result = await self._server.call(
                tool, {"task_id": handle.remote_id, **arguments}, deadline_seconds
            )
        except ServerFailure as failure:
            return _not_forgotten(reply_of(failure, config, handle), failure, handle)
        if not isinstance(result, types.CallToolResult):
            return nonsense(config, f"{tool} goes on as a task itself")
        told = _structured(result)
        if told.get("error_code") == NOT_FOUND:
            return Forgotten()
        if result.is_error:
            reading = await read_result(result, Contents())
            said = cloaked(error_text(reading.data), handle.remote_id)
            detail = f"{tool} of the MCP server {config.name} reports a failure: {said}"
            return Trouble("mcp_unavailable", detail, "See what the server says.")
        if told.get("task_id") != handle.remote_id:
            return nonsense(
                config, f"the structured result of {tool} does not name the task it was asked about"
            )
        return told

    async def _snapshot(self, told: Mapping[str, Any]) -> Snapshot:
        status = status_of(told.get("status"))
        has_failed = status is RemoteStatus.FAILED
        return Snapshot(
            status=status,
            message=message_of(told.get("message")),
            product=await self._product(told) if status is RemoteStatus.COMPLETED else None,
            error_code=message_of(told.get("error_code") or "failed") if has_failed else None,
            error=message_of(told.get("error") or "The tool does not say why.") if has_failed else None,
            questions=_questions(told.get("input_required")) if status is RemoteStatus.INPUT_REQUIRED else {},
            poll_after_seconds=seconds_in(told.get("poll_after_seconds")),
        )

    async def _product(self, told: Mapping[str, Any]) -> Product:
        """The result; of one that lies elsewhere, where it lies."""
        value = told.get("result")
        artifact = told.get("result_artifact")
        if isinstance(artifact, Mapping):
            value = (
                {"result": value, "result_artifact": dict(artifact)} if value is not None else dict(artifact)
            )
        is_text = isinstance(value, str)
        content: list[Any] = [types.TextContent(type="text", text=value)] if isinstance(value, str) else []
        result = types.CallToolResult(content=content, structured_content=None if is_text else value)
        return await product_of(result)


def _structured(result: types.CallToolResult) -> dict[str, Any]:
    content = result.structured_content
    if isinstance(content, dict) and set(content) == {"result"} and isinstance(content["result"], dict):
        content = content["result"]  # servers wrap what a function returns when its type is not known
    return content if isinstance(content, dict) else {}


def _not_forgotten(reply: Forgotten | Trouble, failure: ServerFailure, handle: Handle) -> Trouble:
    """The error by which tasks are unknown elsewhere says of a tool that it is not there, or was called wrongly."""
    if isinstance(reply, Trouble):
        return reply
    return Trouble("mcp_unavailable", cloaked(failure.detail, handle.remote_id), failure.next_step)


def _questions(told: object) -> dict[str, Question]:
    asked = list(told.items())[:_MOST_QUESTIONS] if isinstance(told, Mapping) else []
    return {clean_text(str(key)): _question(request) for key, request in asked}


def _question(request: object) -> Question:
    given = request if isinstance(request, Mapping) else {"message": request}
    mode = "url" if "url" in given else "form"
    schema = given.get("schema", {"type": "object", "properties": {}})
    params = {**given, "mode": mode, "requestedSchema": schema}
    return question_of({"method": "elicitation/create", "params": params})
