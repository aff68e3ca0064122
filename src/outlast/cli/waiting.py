"""Background tasks of a run that was worked on here: wait for them, or say who goes on with them."""

from __future__ import annotations

import asyncio
from typing import Final

from outlast.cli.phrases import counted
from outlast.cli.presence import live_workers
from outlast.cli.printing import note
from outlast.domain.ids import LOCAL_USER
from outlast.service.background.verbs import unsettled_tasks
from outlast.service.threads import show_thread
from outlast.wiring.engine import Engine

_LOOK_SECONDS: Final = 0.5


async def tell_of_tasks(engine: Engine, *, run_id: str | None = None, thread_id: str | None = None) -> None:
    """Say on stderr that background tasks of the run or thread go on, and under what, where no worker is there."""
    unsettled = await unsettled_tasks(engine.store, LOCAL_USER, run_id=run_id, thread_id=thread_id)
    if not unsettled or await live_workers(engine.store):
        return
    names = ", ".join(one["name"] for one in unsettled)
    note(f"{counted(len(unsettled), 'background task')} not yet settled ({names}).")
    note("  They go on under `outlast worker` or `outlast serve`, which also tell the thread.")


async def has_unsettled(engine: Engine, run_id: str) -> bool:
    """Do background tasks of the run go on, or is its thread still to be told of one?"""
    return bool(await unsettled_tasks(engine.store, LOCAL_USER, run_id=run_id))


async def wait_for_tasks(engine: Engine, run_id: str, thread_id: str) -> list[str]:
    """Work on whatever is due until the background tasks of a run have ended and its thread was told; what it was told, by other
    runs than this one. What the tasks ask goes to stderr."""
    said_before = len((await show_thread(engine.store, thread_id, LOCAL_USER))["messages"])
    asked: set[str] = set()
    shift = engine.shift()
    working = asyncio.create_task(shift.serve())
    watch = engine.store.watch(["queue:task_poll", "queue:task_notify"])
    try:
        while not working.done():
            unsettled = await unsettled_tasks(engine.store, LOCAL_USER, run_id=run_id)
            if not unsettled:
                break
            for one in unsettled:
                if "answer" in one["actions"] and one["id"] not in asked:
                    asked.add(one["id"])
                    note(f"{one['name']} asks something: outlast tasks show {one['id']}")
            await watch.wait(_LOOK_SECONDS)
    finally:
        watch.stop()
        shift.stop()
        await working
    messages = (await show_thread(engine.store, thread_id, LOCAL_USER))["messages"][said_before:]
    return [
        one["text"] for one in messages if one["speaker"] in ("assistant", "note") and one["run_id"] != run_id
    ]
