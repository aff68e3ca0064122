"""The hook after a call, for calls that went on in the background: it sees what they came to before their conversation does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from outlast.domain.background import BackgroundTask
from outlast.domain.door import Json
from outlast.domain.errors import Broken
from outlast.domain.events import ModelAnswered
from outlast.domain.hooks import AFTER_TOOL, Hook, HookContext
from outlast.domain.task import TaskDefinition
from outlast.journal.fold import load_state
from outlast.journal.history import read_history
from outlast.ports.store import Store
from outlast.runs.hooks import verdict_of

HooksOf = Callable[[TaskDefinition], Mapping[str, Hook]]
"""The hooks a task names, by the name it gives them. Raises CallerMistake (`hook_not_found`)."""

_PAGE: Final = 500


class Judge:
    """Asks hooks about what tasks came to, as they would have been asked about the result of the call."""

    def __init__(self, store: Store, hooks_of: HooksOf) -> None:
        self._store = store
        self._hooks_of = hooks_of

    async def judged(self, task: BackgroundTask) -> BackgroundTask:
        """The task with the verdict on what it came to; itself where nothing is to be judged, or was.

        Raises CallerMistake (`hook_not_found`) for a hook that is not here.
        """
        if task.after_hook is None or task.is_judged or not task.has_outcome:
            return task
        if await self._store.read_run(task.run_id) is None:
            return replace(
                task, judged_event=task.event_fingerprint, veto="the run that began it was deleted"
            )
        definition = (await load_state(self._store, task.run_id)).definition
        hook = self._hooks_of(definition)[task.after_hook]
        veto = await verdict_of(hook, await self._context(task, definition))
        return replace(task, judged_event=task.event_fingerprint, veto=veto)

    async def _context(self, task: BackgroundTask, definition: TaskDefinition) -> HookContext:
        result = f"{task.error_code}: {task.error}" if task.product is None else task.product.preview
        info: dict[str, Json] = {
            "tool": task.tool,
            "arguments": await self._arguments(task),
            "result": result,
            "background_task": task.name,
        }
        return HookContext(AFTER_TOOL, task.run_id, task.thread_id, task.user_id, definition.name, info=info)

    async def _arguments(self, task: BackgroundTask) -> dict[str, Json]:
        """The arguments of the call that began the task, as the model gave them."""
        after = 0
        while page := await read_history(self._store, task.run_id, after, _PAGE):
            for recorded in page:
                if isinstance(recorded.event, ModelAnswered):
                    for call in recorded.event.tool_calls:
                        if call.id == task.call_id:
                            return call.arguments
            after = page[-1].position
        raise Broken(
            "journal_damaged",
            f"The call that began {task.task_id} is in no journal.",
            "Run `outlast db check`.",
        )
