"""Whatever happens in whatever order, a run keeps its laws; and once nothing more goes wrong it comes to its end.

The laws are checked by the troupe at every event. One machine is driven by hypothesis, which shrinks what it finds; the other by
seeds, whose luck is more even.
"""

import random
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from outlast.runs.workflows import chat, research
from tests.law import law
from tests.unit.runs.happenings import come_to_rest, some_task, something_happens
from tests.unit.runs.troupe import Luck, Troupe

WORKFLOWS = {"research": research.decide, "chat": chat.decide}
SEEDS = range(400)
HAPPENINGS = 120


def cast(workflow: str, luck: Luck) -> Troupe:
    troupe = Troupe(some_task(workflow, luck), WORKFLOWS[workflow])
    troupe.claim()
    return troupe


@law("RUN-1.b", "RUN-1.d", "RUN-1.e", "RUN-4.g", "RUN-5.d", "RUN-5.g", "RUN-6.b", "TOOL-3.a")
@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_run_keeps_its_laws_and_ends_whatever_its_luck(workflow: str) -> None:
    for seed in SEEDS:
        play(workflow, seed)


@pytest.mark.torture
@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_run_keeps_its_laws_and_ends_whatever_its_luck_for_long(workflow: str) -> None:
    for seed in range(10_000, 30_000):
        play(workflow, seed)


def play(workflow: str, seed: int) -> Troupe:
    dice = random.Random(seed)
    troupe = cast(workflow, lambda what, bound: dice.randrange(bound))
    try:
        for _ in range(HAPPENINGS):
            if troupe.is_at_its_end:
                break
            something_happens(troupe, lambda what, bound: dice.randrange(bound))
        come_to_rest(troupe)
    except BaseException as error:
        error.add_note(f"workflow {workflow}, seed {seed}\n{troupe.told()}")
        raise
    return troupe


class RunMachine(RuleBasedStateMachine):
    """Anything that may happen to a research run, one thing a step."""

    workflow = "research"
    troupe: Troupe

    @initialize(data=st.data())
    def begin(self, data: Any) -> None:
        self.troupe = cast(self.workflow, luck_of(data))

    @rule(data=st.data())
    def something_happens(self, data: Any) -> None:
        something_happens(self.troupe, luck_of(data))

    def teardown(self) -> None:
        if hasattr(self, "troupe"):
            come_to_rest(self.troupe)


class ChatMachine(RunMachine):
    """The same with the `chat` workflow."""

    workflow = "chat"


def luck_of(data: Any) -> Luck:
    def luck(what: str, bound: int) -> int:
        drawn: int = data.draw(st.integers(0, bound - 1), label=what)
        return drawn

    return luck


_SETTINGS = settings(
    max_examples=60,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
TestResearch = RunMachine.TestCase
TestResearch.settings = _SETTINGS
TestChat = ChatMachine.TestCase
TestChat.settings = _SETTINGS
