"""A thousand workers and a million waiting runs, simulated: how soon a wake-up is acted on, and what the store's time goes to."""

import dataclasses
import time
from collections.abc import Iterator
from typing import Final

from bench.simulation.costs import STORES
from bench.simulation.figures import Figures, figures_of
from bench.simulation.world import Scenario, World
from bench.table import Row

SECONDS: Final = 40.0
SETTLE_SECONDS: Final = 900.0


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """Workers with slots for runs, users who have something waiting, wake-ups a second."""

    workers: int
    slots: int
    users: int
    wakes: float


SHAPES: Final = (
    Shape(1000, 4, 100, 40),
    Shape(1000, 4, 1000, 40),
    Shape(100, 40, 100, 40),
    Shape(100, 400, 100, 400),
)
"""A run that is woken makes about twelve calls of four seconds: these fill about a third of the slots once they are under way."""


def measure() -> Iterator[Row]:
    """Every store in every shape."""
    for costs in STORES:
        for shape in SHAPES:
            yield from of(
                Scenario(
                    costs=costs,
                    workers=shape.workers,
                    slots=shape.slots,
                    users=shape.users,
                    wakes_a_second=shape.wakes,
                    seconds=SECONDS,
                )
            )


def of(scenario: Scenario) -> Iterator[Row]:
    """One scenario, watched and then settled."""
    started = time.perf_counter()
    world = World(scenario)
    world.run()
    figures = figures_of(world)
    shape = f"{scenario.workers} x {scenario.slots}, {scenario.users} users, {scenario.wakes_a_second:.0f} wake-ups/s"
    name = f"{scenario.costs.name}, {shape}"
    yield from _rows(name, figures)
    left = world.settle(SETTLE_SECONDS)
    yield Row(f"{name}: runs left undone after faults end", len(left), "", at_most=0)
    yield Row(f"{name}: broken promises", sum(world.watched.broken.values()), "", at_most=0)
    yield Row(f"{name}: to simulate it", time.perf_counter() - started, "s")


def _rows(name: str, figures: Figures) -> Iterator[Row]:
    yield Row(f"{name}: acted on", figures.acted, "1/s")
    yield Row(f"{name}: acted on after, p50", figures.acted_p50 * 1000, "ms")
    yield Row(f"{name}: acted on after, p99", figures.acted_p99 * 1000, "ms")
    yield Row(f"{name}: store busy, most with {figures.first}", figures.store_share * 100, "%")
    for kind, share in figures.shares.items():
        yield Row(f"{name}: of its time, {kind}", share * 100, "%")
    yield Row(f"{name}: slots taken", figures.slots_share * 100, "%")
    for kind in ("commits", "claims", "renewals"):
        yield Row(f"{name}: {kind}", dataclasses.asdict(figures)[kind], "1/s")
