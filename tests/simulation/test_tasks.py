"""Background tasks under thousands of schedules: nothing is lost, nothing told twice, nothing out of order.

The machine, the acts and what is written are the very code that runs; store, server, runs and time are simulated. A failure
names its seed: `play(SEED)` plays that schedule again.
"""

import sys
import time
from typing import Any

import pytest

from tests.law import law
from tests.simulation.tasks.faults import FAULTS
from tests.simulation.tasks.world import play

SCHEDULES = 10_000
PARTS = 8
SEEDS_TO_FIND_A_FAULT = 600


@law("TASK-2.a", "TASK-2.b", "TASK-3.a", "TASK-3.b", "TASK-4.b", "TASK-4.d", "TASK-4.f", "TASK-5.a")
@pytest.mark.parametrize("part", range(PARTS))
def test_no_event_is_lost_or_told_twice_or_out_of_order_whatever_the_schedule(part: int) -> None:
    share = SCHEDULES // PARTS
    for seed in range(part * share, (part + 1) * share):
        play(seed)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_put_into_the_machine_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    for seed in range(SEEDS_TO_FIND_A_FAULT):
        try:
            play(seed)
        except Exception:  # noqa: BLE001 - the machine may break in any way
            return
    pytest.fail(f"{SEEDS_TO_FIND_A_FAULT} schedules did not find it")


@pytest.mark.torture
@pytest.mark.timeout(3_600)
def test_no_event_is_lost_or_told_twice_or_out_of_order_for_long(capsys: Any) -> None:
    began, crashes, events, told = time.process_time(), 0, 0, 0
    for seed in range(1_000_000, 1_100_000):
        world = play(seed)
        crashes, events, told = (
            crashes + world.crashes,
            events + world.laws.events,
            told + len(world.talk.heard),
        )
    with capsys.disabled():
        seconds = time.process_time() - began
        sys.stdout.write(
            f"\n100,000 schedules, {crashes} deaths, {events} events, {told} told in {seconds:.0f} s\n"
        )
