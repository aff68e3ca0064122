"""Many workers and very many waiting runs on one store, in virtual time: what must hold, and that it shows when it does not."""

import dataclasses
import re
from pathlib import Path

import pytest

from bench.simulation.costs import POSTGRES, REDIS, STORES, Costs
from bench.simulation.figures import figures_of
from bench.simulation.world import Scenario, World
from tests.law import law

ROOT = Path(__file__).resolve().parents[2]
SMALL = Scenario(
    costs=POSTGRES,
    wakes_a_second=20,
    workers=100,
    waiting=100_000,
    users=50,
    seconds=60,
    crashes_an_hour=40,
    freezes_an_hour=40,
)


def ran(scenario: Scenario) -> World:
    world = World(scenario)
    world.run()
    return world


@pytest.fixture(scope="module")
def small() -> World:
    """A scenario with many faults, run and settled."""
    world = ran(SMALL)
    assert world.settle(600) == []
    return world


def test_nobody_works_beside_another_whoever_dies_or_sleeps(small: World) -> None:
    assert not small.watched.broken
    assert small.watched.crashes > 20
    assert small.watched.freezes > 20


def test_calls_made_twice_are_no_more_than_there_were_interruptions(small: World) -> None:
    interrupted = (small.watched.crashes + small.watched.freezes) * SMALL.slots
    rounds_done = small.watched.appended
    assert small.watched.calls <= rounds_done + interrupted


def test_the_same_seed_gives_the_same_figures() -> None:
    scenario = dataclasses.replace(SMALL, seconds=20)
    assert figures_of(ran(scenario)) == figures_of(ran(scenario))


def test_clocks_of_workers_that_are_a_minute_off_change_nothing() -> None:
    scenario = dataclasses.replace(SMALL, seconds=20)
    assert figures_of(ran(scenario)) == figures_of(ran(dataclasses.replace(scenario, skew_seconds=0)))


def test_one_user_who_wants_most_does_not_keep_the_others_waiting() -> None:
    figures = figures_of(ran(dataclasses.replace(SMALL, slots=1, wakes_a_second=10, heavy_share=0.9)))
    assert figures.slots_share > 0.8
    assert figures.light_p99 < figures.acted_p99 / 2


def careless(*, is_fenced: bool) -> World:
    """Workers that wake up after their leases have run out and go on as if nothing had been."""
    world = World(SMALL)
    world.store.is_fenced = is_fenced
    for worker in world.workers:
        worker.is_careful = False
    world.run()
    return world


def test_only_the_fence_keeps_careless_workers_from_writing() -> None:
    assert "a stale worker's write was taken" not in careless(is_fenced=True).watched.broken
    assert "a stale worker's write was taken" in careless(is_fenced=False).watched.broken


def test_leases_by_the_clocks_of_workers_are_found_out() -> None:
    world = World(dataclasses.replace(SMALL, crashes_an_hour=0, freezes_an_hour=0))
    world.store.clock_of = lambda skew_seconds: world.clockwork.now + skew_seconds
    world.run()
    assert "two workers were sure of one run" in world.watched.broken


def claims_for_each_wake_up(*, is_wary: bool) -> float:
    world = World(dataclasses.replace(SMALL, workers=300, seconds=10, crashes_an_hour=0, freezes_an_hour=0))
    for worker in world.workers:
        worker.is_wary = is_wary
    world.run()
    figures = figures_of(world)
    return figures.claims / figures.acted


def test_workers_that_hold_back_spare_the_store_claims_of_nothing() -> None:
    assert claims_for_each_wake_up(is_wary=True) < 20
    assert claims_for_each_wake_up(is_wary=False) > 100


@law("SCALE-2.a")
def test_runs_that_wait_cost_nothing_however_many_they_are() -> None:
    few, many = (
        ran(dataclasses.replace(SMALL, costs=REDIS, seconds=10, waiting=waiting))
        for waiting in (2000, 1_000_000)
    )
    assert len(many.store.journals) < len(few.store.journals) + 100
    assert figures_of(many).store_share == pytest.approx(figures_of(few).store_share, rel=0.2)


@law("SCALE-2.a")
@pytest.mark.torture
@pytest.mark.parametrize("costs", STORES, ids=lambda costs: costs.name)
def test_a_thousand_workers_and_a_million_waiting_runs(costs: Costs) -> None:
    world = ran(Scenario(costs=costs, wakes_a_second=20, seconds=300))
    assert world.settle(900) == []
    assert not world.watched.broken
    assert world.watched.crashes > 50


@law("SCALE-2.b")
def test_the_guide_speaks_of_settings_that_exist_and_of_the_costs_that_are_simulated() -> None:
    guide = " ".join((ROOT / "docs/guides/scaling.md").read_text("utf-8").split())
    settings = (ROOT / "docs/reference/settings.md").read_text("utf-8")
    assert {
        name for name in re.findall(r"`(harness\.[a-z_]+)`", guide) if f"`{name}`" not in settings
    } == set()
    for told, seconds in {
        "costs PostgreSQL {} us of CPU": POSTGRES.hear,
        "Redis {} us for each of them": REDIS.hear,
        "each entry that is claimed costs {} us": POSTGRES.claim_user,
        "takes about {} us of CPU (PostgreSQL)": POSTGRES.commit,
        "or {} us (Redis) for a commit": REDIS.commit,
    }.items():
        assert told.format(round(seconds * 1e6)) in guide
