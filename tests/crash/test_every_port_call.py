"""A worker dies before and after every call of every port, once each, and the run comes to the same end.

The calls are counted in a run that nothing disturbs, so that a port or verb that is added later is swept without being named.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from outlast.adapters.providers.scripted import ScriptedProvider
from outlast.domain.apply import fold
from outlast.domain.events import HookRan, Recorded, StateEntered, ToolUnsettled
from outlast.domain.message import Message
from outlast.domain.states import ENDED, State
from outlast.journal.history import read_history
from outlast.ports.provider import ToolSchema
from outlast.runs.context import Conversations
from outlast.runs.readings import read_all
from outlast.testing.faults import CrashPlan, CrashPoint
from tests.crash.lives import Life, lived, report_of
from tests.crash.trade import answering
from tests.law import law


@dataclass(frozen=True)
class Ended:
    """What is left of a run that ended: its journal, its report and its life."""

    life: Life
    history: list[Recorded]
    report: dict[str, Any]


async def ended(plan: CrashPlan) -> Ended:
    life = await lived(plan)
    try:
        return Ended(life, await read_history(life.store, life.run_id), await report_of(life))
    finally:
        await life.store.close()


@law(
    "RUN-2.a",
    "RUN-2.b",
    "RUN-3.a",
    "RUN-3.b",
    "RUN-3.c",
    "RUN-3.d",
    "RUN-4.c",
    "RUN-4.d",
    "RUN-4.e",
    "RUN-4.f",
)
@pytest.mark.timeout(1200)
async def test_a_run_survives_the_death_of_its_worker_at_every_call_of_every_port(capsys: Any) -> None:
    counting = CrashPlan()
    whole = await ended(counting)
    failed = {}
    for point in counting.points:
        plan = CrashPlan(point)
        try:
            check(await ended(plan), whole, plan)
        except AssertionError as error:
            failed[point] = error
    with capsys.disabled():
        sys.stdout.write(f"\n{len(counting.points)} crash points were swept\n")
    assert not failed, told(failed)


def check(found: Ended, whole: Ended, plan: CrashPlan) -> None:
    assert plan.was_reached, "the point was not reached"
    assert found.life.crashes == 1
    assert found.report == whole.report
    ends_once(found.history)
    effects_are_right(found, whole)
    readings_are_one(found)


def ends_once(history: list[Recorded]) -> None:
    """The journal has no gap, and its one end is its last transition."""
    assert [one.position for one in history] == list(range(1, len(history) + 1))
    entered = [one.event for one in history if isinstance(one.event, StateEntered)]
    assert [event.target for event in entered if event.target in ENDED] == [State.COMPLETED]
    assert entered[-1].target is State.COMPLETED
    assert entered[-1].outcome == "full"


def effects_are_right(found: Ended, whole: Ended) -> None:
    """Nothing that may happen once happened twice, what may be repeated kept its key, what is unknown was asked."""
    world, life = found.life.world, found.life
    assert sum(world.paid.values()) == 1, world.paid
    assert len(world.noted) == len(whole.life.world.noted), world.noted
    assert max(world.noted.values()) <= 2
    unsettled = [one.event.call for one in found.history if isinstance(one.event, ToolUnsettled)]
    assert unsettled == life.asked_unknown
    ran = [one.event.subject for one in found.history if isinstance(one.event, HookRan)]
    assert len(ran) == len(set(ran)), "a hook ran twice for one transition"
    again = [context for context in world.hooks if context.attempt > 1]
    assert 0 <= len(world.hooks) - len(ran) <= len(again) <= 1, "a hook was not told that it runs again"


def readings_are_one(found: Ended) -> None:
    """What the last worker knew is what the journal says from its first event."""
    session = found.life.last
    assert session is not None
    state = fold(found.life.run_id, found.history)
    assert session.state == state
    anew = read_all(found.life.run_id, found.history, count)
    assert not anew.divergences
    assert messages_of(session.readings.conversations) == messages_of(anew.conversations)
    keys = anew.ledger.keys()
    assert session.readings.ledger.keys() == keys
    assert all(session.readings.ledger.entry(key) == anew.ledger.entry(key) for key in keys)


def count(messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
    return ScriptedProvider(answering).count_tokens(messages, tools)


def messages_of(conversations: Conversations) -> dict[str, Any]:
    return {name: (one.messages, one.digest, one.tokens) for name, one in conversations._by_branch.items()}


def told(failed: dict[CrashPoint, AssertionError]) -> str:
    lines = [f"{point.side} {point.label}: {str(error).splitlines()[0]}" for point, error in failed.items()]
    return f"{len(lines)} points failed:\n" + "\n".join(lines[:20])
