"""Working on a run in this process, with its progress shown, until it has ended, waits, is paused, or we are interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from outlast.cli.interrupts import Interrupted, Interrupts
from outlast.cli.progress.display import Display
from outlast.cli.progress.terminal import FRAME_SECONDS
from outlast.domain.errors import Broken, OutlastError
from outlast.domain.states import ENDED, HELD
from outlast.ports.store import Store
from outlast.service.line import IN_LINE, run_ahead
from outlast.service.show import holder_of, owned_row
from outlast.service.trace import follow_run
from outlast.wiring.engine import Engine
from outlast.wiring.identity import as_name, read_holder

UNTOLD_SECONDS: Final = 1.0
"""How often to look after a run that waits its turn, where nobody tells."""

CATCH_UP_SECONDS: Final = 2.0
"""How long the display may lag behind the journal at the end."""

_RESTED: Final = frozenset({"ended", "waiting", "paused"})
"""Reasons of a worker for giving a run back with which our work on it is done."""


async def work_through(
    engine: Engine, run_id: str, display: Display, on_interrupt: Callable[[], None] | None = None
) -> bool:
    """Work on a run until it rests; False when we were interrupted before. Raises what taking the run up raises.

    At the first interrupt the run is handed back once its calls in flight have ended, or `on_interrupt` is done instead; a few
    seconds later, or at the second, work on it ends at once.
    """
    worker = engine.worker()

    def hand_back() -> None:
        display.say("Stopping: calls in flight may end (Ctrl-C again to stop at once).")
        worker.drain()

    interrupts = Interrupts(on_interrupt or hand_back)
    async with _shown(engine.store, run_id, display):
        with interrupts.heard():
            try:
                while True:
                    evicted = await engine.evictable(run_id)
                    reason = await interrupts.during(
                        _worked_on(worker.work_on(run_id, evicted), run_id, display), gently=True
                    )
                    if reason in _RESTED:
                        return True
                    if reason is None and await interrupts.during(
                        _rests_elsewhere(engine.store, run_id, display)
                    ):
                        return True
                    if reason == IN_LINE:
                        await interrupts.during(_help_ahead(engine, run_id))
                    if reason is not None:
                        await interrupts.during(_until_due(engine.store, run_id))
            except Interrupted:
                return False


async def _worked_on(work: Awaitable[str | None], run_id: str, display: Display) -> str | None:
    """Why the run was given back; None when another holds it, be it that our lease ran out while this process stood still."""
    try:
        return await work
    except Broken as error:
        if error.code != "lease_lost":
            raise
        display.say(f"{run_id} was taken over by another worker; it goes on there.")
        return None


@asynccontextmanager
async def _shown(store: Store, run_id: str, display: Display) -> AsyncIterator[None]:
    """Progress within this block: the display is fed, ticks, and has seen all there is at the end."""
    display.begin(await store.read_head(run_id))
    moved = asyncio.Event()
    feeding = asyncio.create_task(_feed(store, run_id, display, moved))
    ticking = asyncio.create_task(_tick(display))
    try:
        yield
        await _caught_up(store, run_id, display, feeding, moved)
    finally:
        for task in (feeding, ticking):
            task.cancel()
        await asyncio.gather(feeding, ticking, return_exceptions=True)
        display.end()


async def _feed(store: Store, run_id: str, display: Display, moved: asyncio.Event) -> None:
    try:
        async for line in follow_run(store, run_id):
            if line["seq"] > display.board.position:
                display.take(line)
                moved.set()
    finally:
        moved.set()


async def _tick(display: Display) -> None:
    while True:
        await asyncio.sleep(FRAME_SECONDS)
        display.tick()


async def _caught_up(
    store: Store, run_id: str, display: Display, feeding: asyncio.Task[None], moved: asyncio.Event
) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(CATCH_UP_SECONDS):
            while not feeding.done() and display.board.position < await store.read_head(run_id):
                moved.clear()
                await moved.wait()
    if feeding.done():
        # The run is what counts: a display that cannot go on is told of and left.
        trouble = feeding.exception()
        if trouble is not None:
            display.say(f"Progress could not be shown: {type(trouble).__name__}: {trouble}")


async def _rests_elsewhere(store: Store, run_id: str, display: Display) -> bool:
    """Wait until the worker that holds the run lets go of it; is there nothing left to do then?"""
    told: str | None = None
    watch = store.watch([run_id])
    try:
        while True:
            held = await holder_of(store, run_id)
            if held.until is None:
                return (await owned_row(store, run_id)).state in ENDED | HELD
            if held.holder is not None and held.holder != told:
                told = held.holder
                identity = read_holder(told)
                name = as_name(identity) if identity is not None else "another worker"
                display.say(
                    f"{run_id} is worked on by {name}; its lease runs until {held.until.astimezone():%H:%M:%S} "
                    "and may be renewed. Waiting."
                )
            left = (held.until - await store.now()).total_seconds()
            await watch.wait(min(max(left, 0.05), 1.0))
    finally:
        watch.stop()


async def _help_ahead(engine: Engine, run_id: str) -> None:
    """Work on the run ahead of one that waits its turn, where it is due and nobody does."""
    ahead = await run_ahead(engine.store, run_id)
    entry = await engine.store.read_entry("runs", ahead) if ahead is not None else None
    if ahead is None or entry is None or entry.due_at is None or entry.until is not None:
        return
    if entry.due_at <= await engine.store.now():
        with suppress(OutlastError):  # it is there for others too; this process only lends a hand
            await engine.work_on(ahead)


async def _until_due(store: Store, run_id: str) -> None:
    """Wait until a run that was given back is due again, or somebody said something to it."""
    watch = store.watch([f"signals:{run_id}", "queue:runs"])
    try:
        entry = await store.read_entry("runs", run_id)
        due_at = entry.due_at if entry is not None else None
        left = (due_at - await store.now()).total_seconds() if due_at is not None else UNTOLD_SECONDS
        if left > 0:
            await watch.wait(left)
    finally:
        watch.stop()
