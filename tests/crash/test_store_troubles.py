"""A store that cannot serve one call, or cannot say whether it did, at every call in turn: the run outlasts it in one process.

`unavailable` is raised before a call, so that nothing was written; `commit_unknown` after one, so that all was.
"""

import asyncio

import pytest

from outlast.domain.errors import Broken
from outlast.domain.events import ReportWritten
from outlast.testing.faults import CrashPlan, CrashPoint
from tests.crash.test_every_port_call import Ended, effects_are_right, ended, ends_once, readings_are_one
from tests.law import law

CODES = {"before": "store_unavailable", "after": "commit_unknown"}


def refuse(point: CrashPoint) -> None:
    raise Broken(CODES[point.side], f"injected {point.side} {point.label}")


@law("RUN-3.b", "RUN-3.c")
@pytest.mark.parametrize("side", CODES)
async def test_a_run_outlasts_a_store_that_cannot_serve_one_commit(side: str) -> None:
    counting = CrashPlan()
    whole = await ended(counting)
    points = [
        point for point in counting.points if point.side == side and point.label.startswith("store.commit")
    ]
    async with asyncio.TaskGroup() as group:  # each waits a little before it tries again
        for point in points:
            group.create_task(outlasts(point, whole))


async def outlasts(point: CrashPoint, whole: Ended) -> None:
    plan = CrashPlan(point, refuse)
    found = await ended(plan)
    assert plan.was_reached
    assert found.life.crashes == 0
    assert found.report == whole.report
    ends_once(found.history)
    effects_are_right(found, whole)
    readings_are_one(found)
    written = [one for one in found.history if isinstance(one.event, ReportWritten)]
    assert len(written) == 1, f"{point}: the report was recorded twice"
