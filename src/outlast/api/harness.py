"""`Harness`: open a configuration, start runs, watch and steer them.

async with Harness.open("outlast.yaml") as harness:
    run = await harness.start(task="market_research", input="...")
    async for event in run.events():
        ...
    report = await run.result()
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from outlast.api.memory import Memory
from outlast.domain.door import Json
from outlast.domain.errors import Broken
from outlast.domain.ids import LOCAL_USER
from outlast.ports.provider import Provider
from outlast.ports.run_rows import RunFilter
from outlast.service import show, signals, trace
from outlast.service.start import Strategy
from outlast.wiring.engine import Engine, Request
from outlast.wiring.remembering import without_memory
from outlast.wiring.settings.overrides import Override, from_mapping


class Run:
    """A run: what it does, and what may be asked of it."""

    def __init__(self, engine: Engine, run_id: str, thread_id: str, user_id: str) -> None:
        self._engine = engine
        self._user_id = user_id
        self.run_id = run_id
        self.thread_id = thread_id

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """The trace lines of the run as they come, from its first, until it has ended."""
        async for line in trace.follow_run(self._engine.store, self.run_id):
            yield line

    async def result(self) -> dict[str, Any]:
        """The run's `show` document once it has ended, is paused, or waits for a person who has not acted yet.

        Its `report` is the report document of a research run, its `answer` the words of a chat.
        """
        watch = self._engine.store.watch([self.run_id])
        try:
            while True:
                is_left_alone = await self._is_left_alone()
                document = await self.show()
                if document["state"] in _FINAL or (is_left_alone and document["state"] in _AT_REST):
                    return document
                await watch.wait(5.0)
        finally:
            watch.stop()

    async def _is_left_alone(self) -> bool:
        """Is no worker at the run, nor about to be (since somebody decided, resumed or spoke)?"""
        entry = await self._engine.store.read_entry("runs", self.run_id)
        if entry is None:
            return True
        return entry.until is None and (entry.due_at is None or entry.due_at > await self._engine.store.now())

    async def show(self) -> dict[str, Any]:
        """The run's `show` document as it stands."""
        return await show.show_run(self._engine.store, self.run_id, self._user_id)

    async def pause(self) -> None:
        """Ask the run to pause. Raises Conflict (`run_ended`)."""
        await signals.pause(self._engine.store, self.run_id, self._user_id)

    async def resume(self) -> None:
        """Ask a paused or failed run to go on."""
        await signals.resume(self._engine.store, self.run_id, self._user_id)

    async def cancel(self, reason: str = "") -> None:
        """Ask the run to end now. Raises Conflict (`run_ended`)."""
        await signals.cancel(self._engine.store, self.run_id, self._user_id, reason)

    async def say(self, text: str, *, pin: bool = False) -> None:
        """Tell the run something; with `pin` every conversation of it, also those that begin later. Raises Conflict (`run_ended`)."""
        await signals.say(self._engine.store, self.run_id, self._user_id, text, pin=pin)

    async def answer(self, text: str, question: str | None = None) -> None:
        """Answer the run's open question. Raises Conflict (`no_question`, `which_question`)."""
        await signals.answer(self._engine.store, self.run_id, self._user_id, text, question)

    async def approve(self, ticket: str | None = None, edit: dict[str, Json] | None = None) -> None:
        """Agree to an open ticket. Raises Conflict (`no_ticket`, `which_ticket`, `ticket_decided`)."""
        check = self._engine.builder.problems_with_call
        await signals.approve(self._engine.store, self.run_id, self._user_id, ticket, edit, check)

    async def reject(self, ticket: str | None = None, comment: str = "") -> None:
        """Refuse an open ticket. Raises Conflict as `approve` does."""
        await signals.reject(self._engine.store, self.run_id, self._user_id, ticket, comment)

    async def set_limits(self, **changes: Json) -> None:
        """Change limits of the run. Raises CallerMistake (`unknown_limit`, `bad_limit`)."""
        await signals.set_limits(self._engine.store, self.run_id, self._user_id, changes)


_FINAL = frozenset({"COMPLETED", "CANCELLED"})
_AT_REST = frozenset({"FAILED", "WAITING", "PAUSED"})


class Harness:
    """An open configuration, with a worker of its own that works on due runs while it is open."""

    def __init__(self, engine: Engine, *, concurrency: int | None = None, user_id: str = LOCAL_USER) -> None:
        self.engine = engine
        self._user_id = user_id
        self._concurrency = concurrency
        self._stack = AsyncExitStack()

    @classmethod
    def open(
        cls,
        config: Path | str | None = None,
        *,
        overrides: Mapping[str, Json] | None = None,
        tools: Iterable[object] = (),
        provider: Provider | None = None,
        concurrency: int | None = None,
    ) -> Harness:
        """The harness of a configuration; enter it to begin.

        `overrides` are settings, nested or by dotted path; `tools` are classes and functions to add; `provider` serves every role
        in the place of the configured ones. Raises CallerMistake with every problem of the configuration.
        """
        engine = Engine.from_config(config, overrides=_overrides(overrides), tools=tools, provider=provider)
        return cls(engine, concurrency=concurrency)

    async def __aenter__(self) -> Self:
        await self.engine.open()
        self._stack.push_async_callback(self.engine.close)
        await self._stack.enter_async_context(self._working())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def start(
        self,
        *,
        task: str,
        input: str,  # noqa: A002 - the pinned name
        thread_id: str | None = None,
        key: str | None = None,
        overrides: Mapping[str, Json] | None = None,
        multitask_strategy: Strategy = "reject",
    ) -> Run:
        """Start a run of a task, or find the one `key` names.

        In a thread with a run that has not ended, `enqueue` lets it wait its turn, `interrupt` also cancels the active run.

        Raises CallerMistake for what the task needs and lacks, NotFound (`task_not_found`), Conflict (`thread_busy`, `line_full`).
        """
        request = Request(
            task=task,
            input=input,
            thread_id=thread_id,
            key=key,
            user_id=self._user_id,
            overrides=tuple(_overrides(overrides)),
            strategy=multitask_strategy,
        )
        begun = await self.engine.begin(request)
        return Run(self.engine, begun.run_id, begun.thread_id, self._user_id)

    async def run(self, run_id: str) -> Run:
        """The run with this id. Raises NotFound (`unknown_run`)."""
        row = await show.owned_row(self.engine.store, run_id, self._user_id)
        return Run(self.engine, row.run_id, row.thread_id, self._user_id)

    async def runs(
        self, *, state: str | None = None, task: str | None = None, limit: int = 100
    ) -> list[dict[str, Any]]:
        """Runs newest first, each as its `show` document without plan and report."""
        wanted = RunFilter(user_id=self._user_id, state=state, task=task, limit=limit)
        return await show.list_runs(self.engine.store, wanted)

    @property
    def memory(self) -> Memory:
        """What is remembered of the user. Raises CallerMistake (`no_memory`) where nothing is."""
        kept = self.engine.memory
        if kept is None:
            raise without_memory(self.engine.settings)
        return Memory(kept, self.engine.store, self._user_id)

    async def fork(self, run_id: str, *, at: int, overrides: Mapping[str, Json] | None = None) -> Run:
        """Copy a run up to an event into a new one, in a new thread, with other settings. Raises NotFound, Conflict."""
        begun = await self.engine.fork(run_id, at, self._user_id, tuple(_overrides(overrides)))
        return Run(self.engine, begun.run_id, begun.thread_id, self._user_id)

    @asynccontextmanager
    async def _working(self) -> AsyncIterator[None]:
        shift = self.engine.shift(self._concurrency)
        working = asyncio.create_task(shift.serve())
        try:
            yield
        finally:
            shift.stop()
            with suppress(Broken):
                await working


def _overrides(values: Mapping[str, Json] | None) -> list[Override]:
    return from_mapping(values) if values else []
