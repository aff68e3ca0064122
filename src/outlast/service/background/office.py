"""The background tasks of a run at work: their rows are written in the very commits that tell of them in its journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from outlast.domain.background import BackgroundTask, Notify, TaskStatus, free_name
from outlast.domain.door import digest_of
from outlast.domain.events import Recorded, StateEntered, ToolAnswered, ToolRequested, ToolUnsettled
from outlast.domain.hooks import AFTER_TOOL
from outlast.domain.ids import idempotency_key
from outlast.domain.notification import Notification
from outlast.domain.run import Call, RunState
from outlast.domain.states import ENDED, State
from outlast.domain.tool_call import Begun, ToolCall
from outlast.ports.background_driver import BackgroundDrivers, Handle, Trouble
from outlast.ports.batch import Committed, Guard, Item
from outlast.ports.store import Store
from outlast.ports.task_rows import TaskFilter
from outlast.ports.tool import Background, Tool
from outlast.service.background.batch import TaskBatch
from outlast.service.background.public import MOST_SHOWN, as_list, safe_name, stands_as
from outlast.tasks.codec import task_in
from outlast.tasks.happenings import CancelAsked, RunEnded, Submitted, SubmitUnknown
from outlast.tasks.rules import Moment, RulesOf
from outlast.tasks.wishes import begun as begun_task
from outlast.tasks.wishes import with_handle

NotifyOf = Callable[[str, str], Notify]
"""How a thread is told of the tasks of a driver and server."""

ABANDON_SECONDS: Final = 10.0
"""How long a cancel of a task that could not be kept may take."""

SUBMIT_SPARE_SECONDS: Final = 60.0
"""How much longer than its call may take a task may be without a handle."""

_OF_RUNS: Final = frozenset({StateEntered})
"""Events that may concern tasks which others began."""

_OF_TASKS: Final = _OF_RUNS | {ToolRequested, ToolUnsettled, ToolAnswered}
"""Events that may concern tasks of a run whose tools begin some."""

_MOST_NAMES: Final = 1000
_UNKNOWN: Final = frozenset({"outcome_unknown", "timeout"})


class TaskOffice:
    """Keeps the background tasks of one run at work. Only the active run of a thread names tasks in it, so names are sure here."""

    def __init__(
        self,
        store: Store,
        tools: Mapping[str, Tool],
        drivers: BackgroundDrivers,
        rules: RulesOf,
        notify: NotifyOf,
    ) -> None:
        self._store = store
        self._tools = tools
        self._drivers = drivers
        self._rules = rules
        self._notify = notify
        self._names: dict[str, Begun] = {}
        self._begins_any = any(tool.background is not None for tool in tools.values())

    async def name_for(self, state: RunState, call: ToolCall, wanted: str) -> Begun:
        """See `Office.name_for`."""
        return await self._named(task_id_of(idempotency_key(state.run_id, call.id)), state.thread_id, wanted)

    async def _named(self, task_id: str, thread_id: str, wanted: str) -> Begun:
        if task_id not in self._names:
            rows = await self._store.list_tasks(TaskFilter(thread_id=thread_id, limit=_MOST_NAMES))
            own = next((task_in(row).name for row in rows if row.task_id == task_id), None)
            taken = [row.name for row in rows] + [begun.name for begun in self._names.values()]
            # Where not every name of the thread is known, only one with a part of the id is surely free.
            wanted = safe_name(wanted if len(rows) < _MOST_NAMES else f"{wanted[:24]}-{task_id[-12:]}")
            self._names[task_id] = Begun(task_id, own or free_name(wanted, taken))
        return self._names[task_id]

    async def joined(
        self,
        before: RunState,
        state: RunState,
        recorded: Sequence[Recorded],
        handles: Mapping[str, Handle],
        now: datetime,
    ) -> list[Item]:
        """See `Office.joined`."""
        about = _OF_TASKS if self._begins_any or handles else _OF_RUNS
        concerned = [one for one in recorded if type(one.event) in about]
        if not concerned:
            return []
        batch = TaskBatch(self._store, self._rules, now)
        for one in concerned:
            match one.event:
                case ToolRequested(call=name):
                    await self._requested(batch, state, _call(name, state, before))
                case ToolUnsettled(call=name):
                    await self._unsettled(batch, state, _call(name, before, state))
                case ToolAnswered(call=name, outcome=outcome):
                    call = _call(name, before, state)
                    if name in handles and outcome.task is not None:
                        await self._begun(batch, state, call, outcome.task, handles[name])
                    elif outcome.task is None:
                        code = outcome.error.code if outcome.error is not None else ""
                        await self._came_to_nothing(batch, state, call, code)
                case StateEntered(target=target) if target in ENDED:
                    await self._run_ended(batch, state, target)
                case _:
                    pass
        return batch.items()

    async def shown(self, state: RunState, before: str) -> str:
        """See `Office.shown`."""
        wanted = TaskFilter(user_id=state.user_id, thread_id=state.thread_id, limit=MOST_SHOWN)
        listed = as_list([task_in(row) for row in await self._store.list_tasks(wanted)])
        return "" if stands_as(listed) == stands_as(before) else listed

    async def adrift(self, state: RunState, call: Call, handle: Handle) -> None:
        """See `Office.adrift`. The row has an id of its own: another try of the call may have begun the task of the call itself."""
        is_kept = False
        with suppress(Exception):  # nobody is left to be told
            is_kept = await self._kept_to_cancel(state, call, handle)
        if not is_kept:
            await self.abandon(handle)

    async def _kept_to_cancel(self, state: RunState, call: Call, handle: Handle) -> bool:
        key = f"{idempotency_key(state.run_id, call.call.id)} {handle.server} {handle.remote_id}"
        begun = await self._named(task_id_of(key), state.thread_id, handle.name or call.call.name)
        batch = TaskBatch(self._store, self._rules, await self._store.now())
        await self._begun(batch, state, call, begun, handle)
        await batch.happen(begun.id, CancelAsked("its call was over before it came"))
        written = await self._store.commit(batch.items())
        return isinstance(written, Committed) or written.guard is Guard.REMOTE

    async def abandon(self, handle: Handle) -> None:
        """See `Office.abandon`."""
        with suppress(Exception):  # nobody is left to be told; the other side may still end it by itself
            driver = await self._drivers.driver_for(handle.driver, handle.server)
            if not isinstance(driver, Trouble):
                await driver.cancel(handle, ABANDON_SECONDS)

    async def _requested(self, batch: TaskBatch, state: RunState, call: Call | None) -> None:
        """The row of a task that may be begun by the request that leaves now."""
        background = self._background(state, call, "always")
        if call is None or background is None:
            return
        begun = await self.name_for(state, call.call, background.name or call.call.name)
        if await batch.find(begun.id) is None:
            task = self._new(state, call, begun, background, batch.now)
            pinned = state.tools[call.call.name]
            seconds = pinned.timeout_seconds * pinned.max_attempts + SUBMIT_SPARE_SECONDS
            batch.insert(begun_task(task, self._rules(task), Moment(batch.now), seconds))

    async def _begun(
        self, batch: TaskBatch, state: RunState, call: Call | None, begun: Begun, handle: Handle
    ) -> None:
        """The handle of a task came."""
        if await batch.find(begun.id) is not None:
            await batch.happen(begun.id, Submitted(handle))
        elif call is not None:
            background = Background(handle.driver, handle.server, handle.principal)
            task = with_handle(self._new(state, call, begun, background, batch.now), handle)
            batch.insert(begun_task(task, self._rules(task), Moment(batch.now)))

    async def _unsettled(self, batch: TaskBatch, state: RunState, call: Call | None) -> None:
        """Nobody knows whether a task was begun: its row says so, or one that is made now."""
        background = self._background(state, call, "always", "maybe")
        if call is None or background is None:
            return
        begun = await self.name_for(state, call.call, background.name or call.call.name)
        if await batch.find(begun.id) is None:
            task = self._new(state, call, begun, background, batch.now)
            batch.insert(begun_task(task, self._rules(task), Moment(batch.now)))
        await batch.happen(begun.id, SubmitUnknown())

    async def _came_to_nothing(self, batch: TaskBatch, state: RunState, call: Call | None, code: str) -> None:
        """A call that would have begun a task was answered without one."""
        if call is None or call.generation is None or self._background(state, call, "always") is None:
            return
        task_id = task_id_of(idempotency_key(state.run_id, call.call.id))
        task = await batch.find(task_id)
        if task is None or task.status is not TaskStatus.SUBMITTING:
            return
        if code in _UNKNOWN:
            await batch.happen(task_id, SubmitUnknown())
        else:
            await batch.delete(task_id)

    async def _run_ended(self, batch: TaskBatch, state: RunState, target: State) -> None:
        """What the end of a run means for the tasks it told of, and for those it began."""
        failure = state.failure
        error = (
            None if target is State.COMPLETED else f"{failure.code}: {failure.detail}" if failure else target
        )
        for task_id in state.tells_of:
            task = await batch.find(task_id)
            if task is not None:
                told = await batch.happen(task_id, RunEnded(state.run_id, task.dispatch_version, error))
                if told is not None and told.notification is Notification.DEAD_LETTER:
                    batch.alert(task_id)
        if target is State.CANCELLED:
            wanted = TaskFilter(user_id=state.user_id, run_id=state.run_id, is_open=True, limit=_MOST_NAMES)
            open_ids = [row.task_id for row in await self._store.list_tasks(wanted)]
            for task_id in dict.fromkeys([*open_ids, *self._names]):
                await batch.happen(task_id, CancelAsked(state.wants_cancel or "the run was cancelled"))

    def _background(self, state: RunState, call: Call | None, *kinds: str) -> Background | None:
        """How calls of this tool go on in the background, where they do in one of these ways."""
        pinned = state.tools.get(call.call.name) if call is not None else None
        tool = self._tools.get(pinned.name) if pinned is not None else None
        return (
            tool.background
            if pinned is not None and tool is not None and pinned.background in kinds
            else None
        )

    def _new(
        self, state: RunState, call: Call, begun: Begun, background: Background, now: datetime
    ) -> BackgroundTask:
        return BackgroundTask(
            task_id=begun.id,
            user_id=state.user_id,
            thread_id=state.thread_id,
            run_id=state.run_id,
            call_id=call.call.id,
            name=begun.name,
            tool=call.call.name,
            created_at=now,
            updated_at=now,
            driver=background.driver,
            server=background.server,
            principal=background.principal,
            idempotency_key=idempotency_key(state.run_id, call.call.id),
            notify=self._notify(background.driver, background.server),
            after_hook=state.definition.hooks.get(AFTER_TOOL),
        )


def task_id_of(key: str) -> str:
    """The local id of the task that a call with this idempotency key begins."""
    return "b-" + digest_of(key)[:16]


def _call(name: str, *states: RunState) -> Call | None:
    return next((state.calls[name] for state in states if name in state.calls), None)
