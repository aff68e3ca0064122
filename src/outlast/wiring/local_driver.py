"""The driver of tools of ours that run in the background: one long poll is the call itself, by whichever worker holds its lease.

That a call has begun is written down before it begins. Where its worker is gone, a call that may be repeated is begun again with
the same key; of one that may not, nobody knows what it came to, and that is its end.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from outlast.domain.door import Json
from outlast.domain.errors import OutlastError, Passing
from outlast.domain.task import TaskDefinition
from outlast.domain.tool_call import Effect, ToolError
from outlast.journal.fold import load_state
from outlast.ports.background_driver import (
    Acknowledged,
    Answer,
    Forgotten,
    Handle,
    Product,
    RemoteStatus,
    Snapshot,
    Trouble,
)
from outlast.ports.batch import Committed
from outlast.ports.store import Store
from outlast.ports.stream import PutPayload
from outlast.ports.tool import Tool, ToolContext, ToolResult
from outlast.runs.background import begin_item
from outlast.runs.means import Means
from outlast.service.background.office import task_id_of
from outlast.tasks.desk import read_kept

BuildMeans = Callable[[str, TaskDefinition], Awaitable[Means]]

LOOK_SECONDS: Final = 1.0
"""How often a call that runs is looked after for a wish to cancel it."""

_PASSING: Final = "The worker tries again by itself."


class LocalDriver:
    """Carries out calls of tools of ours. The wish to cancel stands in the task's row, where whoever runs the call sees it."""

    can_cancel = True
    can_answer = False

    def __init__(self, store: Store, build: BuildMeans) -> None:
        self._store = store
        self._build = build

    async def poll(self, handle: Handle, deadline_seconds: float) -> Snapshot | Forgotten | Trouble:
        """Carry the call out, and tell what it came to."""
        run_id, arguments = str(handle.data.get("run_id")), handle.data.get("arguments")
        try:
            state = await load_state(self._store, run_id)
            means = await self._build(run_id, state.definition)
        except OutlastError as error:
            return Trouble(
                error.code, error.detail, error.next_step or _PASSING, passing=isinstance(error, Passing)
            )
        try:
            tool = means.tools.get(handle.server)
            if tool is None or not isinstance(arguments, dict):
                detail = f"There is no tool {handle.server} here."
                return Trouble("unknown_tool", detail, "Start a worker whose configuration has it.")
            if not await self._may_begin(handle, tool):
                detail = "Its worker stopped while it ran; whether it took effect is not known."
                return Snapshot(status=RemoteStatus.FAILED, error_code="outcome_unknown", error=detail)
            context = self._context(handle, state.user_id, state.thread_id, run_id, means)
            call = asyncio.ensure_future(_carried_out(tool, means, dict(arguments), context))
            return await self._unless_cancelled(call, handle)
        finally:
            await means.close()

    async def _unless_cancelled(
        self, call: asyncio.Future[Snapshot | Trouble], handle: Handle
    ) -> Snapshot | Trouble:
        """What the call comes to; it is ended when the wish to cancel stands in its row."""
        try:
            while not (await asyncio.wait([call], timeout=LOOK_SECONDS))[0]:
                kept = await read_kept(self._store, task_id_of(handle.remote_id))
                if kept is None or kept.task.cancel_requested_at is not None:
                    return Snapshot(status=RemoteStatus.CANCELLED)
            return await call
        finally:
            call.cancel()
            await asyncio.wait([call])

    async def answer(
        self, handle: Handle, answers: Mapping[str, Answer], deadline_seconds: float
    ) -> Acknowledged | Forgotten | Trouble:
        """Nothing is ever asked."""
        return Acknowledged()

    async def cancel(self, handle: Handle, deadline_seconds: float) -> Acknowledged | Forgotten | Trouble:
        """The wish stands in the row."""
        return Acknowledged()

    async def _may_begin(self, handle: Handle, tool: Tool) -> bool:
        """Write down that the call begins; False when it began before and must not be repeated."""
        began = begin_item(handle.remote_id, await self._store.now())
        is_first = isinstance(await self._store.commit([began]), Committed)
        return is_first or tool.effect is not Effect.ONCE

    def _context(
        self, handle: Handle, user_id: str, thread_id: str, run_id: str, means: Means
    ) -> ToolContext:
        return ToolContext(
            user_id=user_id,
            thread_id=thread_id,
            run_id=run_id,
            call_id=str(handle.data.get("call_id")),
            idempotency_key=handle.remote_id,
            subtask=None,
            workspace=Path(means.workspace),
            artifacts=_Artifacts(self._store, run_id),
            search=means.search,
            fetch=means.fetch,
        )


class LocalDrivers:
    """Finds the driver of tools of ours, whichever tool it is."""

    def __init__(self, driver: LocalDriver) -> None:
        self._driver = driver

    async def driver_for(self, driver: str, server: str) -> LocalDriver:
        """See `BackgroundDrivers.driver_for`."""
        return self._driver


class _Artifacts:
    """Artifacts of the run that began the call."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self._run_id = run_id

    async def put(self, content: str | bytes) -> str:
        raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
        digest = hashlib.sha256(raw).hexdigest()
        await self._store.commit([PutPayload(self._run_id, digest, raw)])
        return digest

    async def get(self, digest: str) -> bytes | None:
        return (await self._store.read_payloads([digest])).get(digest)


async def _carried_out(
    tool: Tool, means: Means, arguments: dict[str, Json], context: ToolContext
) -> Snapshot | Trouble:
    checked = means.check_arguments(tool, arguments)
    if isinstance(checked, ToolError):
        return Snapshot(status=RemoteStatus.FAILED, error_code=checked.code, error=checked.detail)
    try:
        result = await tool.run(checked, context)
    except Passing as error:
        if tool.effect is Effect.ONCE or error.code == "timeout":
            return Snapshot(status=RemoteStatus.FAILED, error_code=error.code, error=error.detail)
        return Trouble(error.code, error.detail, _PASSING)
    except OutlastError as error:
        return Snapshot(status=RemoteStatus.FAILED, error_code=error.code, error=error.detail)
    if not isinstance(result, ToolResult):
        kind = type(result).__name__
        detail = f"{tool.name} returned {kind}, which a tool in the background cannot."
        return Snapshot(status=RemoteStatus.FAILED, error_code="tool_failed", error=detail)
    if not result.success:
        return Snapshot(
            status=RemoteStatus.COMPLETED, product=Product(result.error or "The tool failed.", is_error=True)
        )
    problems = means.check_output(tool, result.data)
    if problems:
        return Snapshot(status=RemoteStatus.FAILED, error_code="invalid_output", error="; ".join(problems))
    return Snapshot(status=RemoteStatus.COMPLETED, product=Product(result.data))
