"""A process that remembers what is due in a store, and is killed at a call of memory.

Run as: rememberer.py FILE CALL (`put#1` and so on; empty: to its end).
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.runs.remembering.keeper import Keeper
from outlast.runs.remembering.long_term_memory import LongTermMemory
from outlast.testing.faults import CrashPlan, CrashPoint, Faulty
from tests.unit.runs.remembering.memories import Words


async def main(file: str, call: str, side: str) -> None:
    store = SqliteStore(Path(file))
    await store.open()
    plan = CrashPlan(CrashPoint(f"memory.{call}", "before" if side == "before" else "after"), die=_die)
    kept = LongTermMemory(Faulty(store.memory, plan, "memory"), Words())
    await Keeper(store, kept, holder="rememberer", lease_seconds=600.0).clear()
    await store.close()


def _die(point: CrashPoint) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


asyncio.run(main(*sys.argv[1:]))
