"""What comes from a server, mended on its way to the client library, which would refuse more than it has to.

The library checks whole messages: one tool with a broken schema makes it refuse the list with all the others, and a task of the
older experimental kind in the place of a result makes it lose the task. Both are put where the library does not look.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self

import anyio
from mcp.client._transport import ReadStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from outlast.adapters.mcp.config import without_secrets

RAW_TOOL: Final = "outlast/tool"
"""Where, in the `_meta` of a listed tool, the tool is as the server sent it."""

RAW_TASK: Final = "outlast/task"
"""Where, in the `_meta` of a result, the experimental task is that came in its place."""

RELATED_TASK: Final = "io.modelcontextprotocol/related-task"
"""Where, in the `_meta` of a request, the experimental task is that it belongs to."""

Item = SessionMessage | Exception


class Tap:
    """A stream of messages like the one below it.

    `on_end` is called when it ends, `on_noise` for what is no message. `on_question` takes questions of experimental tasks, which
    are answered much later and perhaps by another process, so that the library never sees them. `secrets` are masked wherever the
    server says them.
    """

    def __init__(
        self,
        inner: ReadStream[Item],
        on_end: Callable[[], None],
        on_noise: Callable[[Exception], None],
        on_question: Callable[[str, JSONRPCRequest], None],
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._inner = inner
        self._on_end = on_end
        self._on_noise = on_noise
        self._on_question = on_question
        self._secrets = secrets

    @property
    def last_context(self) -> Any:
        """The context the last message was sent in, where the stream below knows it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Item:
        """The next message. Raises anyio.EndOfStream or anyio.ClosedResourceError at the end."""
        while True:
            try:
                item = await self._inner.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
                self._on_end()
                raise
            if isinstance(item, Exception):
                self._on_noise(item)
            elif isinstance(item.message, JSONRPCResponse):
                item.message.result = masked(item.message.result, self._secrets)
                mend(item.message.result)
            elif isinstance(item.message, JSONRPCError):
                item.message.error.message = masked(item.message.error.message, self._secrets)
            elif isinstance(item.message, JSONRPCRequest) and (task := task_of(item.message)) is not None:
                self._on_question(task, item.message)
                continue
            return item

    async def aclose(self) -> None:
        """Close the stream."""
        self._on_end()
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        try:
            return await self.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def task_of(request: JSONRPCRequest) -> str | None:
    """The experimental task that a request of the server belongs to, if it does."""
    meta = (request.params or {}).get("_meta")
    related = meta.get(RELATED_TASK) if isinstance(meta, dict) else None
    task = related.get("taskId") if isinstance(related, dict) else None
    return task if isinstance(task, str) else None


def masked(value: Any, secrets: tuple[str, ...]) -> Any:
    """A value with every secret in it masked; the value itself where there are none to look for."""
    if not secrets:
        return value
    match value:
        case str():
            return without_secrets(value, secrets)
        case list():
            return [masked(item, secrets) for item in value]
        case dict():
            return {masked(key, secrets): masked(item, secrets) for key, item in value.items()}
        case _:
            return value


def mend(result: dict[str, Any]) -> None:
    """Put what the library would stumble over where it does not look."""
    tools, task = result.get("tools"), result.get("task")
    if isinstance(tools, list):
        result["tools"] = [_acceptable(tool) for tool in tools if isinstance(tool, dict)]
        if not isinstance(result.get("nextCursor", ""), str):
            del result["nextCursor"]
    elif isinstance(task, dict) and "taskId" in task and "content" not in result:
        meta = result.get("_meta")
        result["_meta"] = {**(meta if isinstance(meta, dict) else {}), RAW_TASK: result.pop("task")}
        result["content"] = []


def _acceptable(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool of which the library sees the name and a schema it accepts; its results are checked by us."""
    schema = tool.get("inputSchema")
    is_fine = isinstance(schema, dict) and schema.get("type") == "object"
    return {
        "name": str(tool.get("name", "")),
        "inputSchema": schema if is_fine else {"type": "object"},
        "_meta": {RAW_TOOL: tool},
    }
