"""What came of a simulation, in the numbers that a person plans with."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.simulation.world import World

KINDS = {
    "commits": ("commit", "signal", "sync"),
    "claims": ("claim", "look"),
    "renewals": ("renew",),
    "notices": ("hear",),
    "reads": ("read",),
}
"""What the store's time goes to, by what a request is for."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Rates are a second; `store_share` is how much of its time the store is busy, `slots_share` how many slots are taken.

    `acted_p50` and `acted_p99` are seconds from the commit of a wake-up to a worker's first durable event on the run, `light_p99`
    the same for all users but the one who says most.
    """

    offered: float
    acted: float
    commits: float
    claims: float
    renewals: float
    acted_p50: float
    acted_p99: float
    light_p99: float
    store_share: float
    slots_share: float
    shares: dict[str, float]

    @property
    def first(self) -> str:
        """What the store's time goes to most."""
        return max(self.shares, key=lambda kind: self.shares[kind])


def figures_of(world: World) -> Figures:
    """The figures of a scenario that has been run and not yet settled."""
    scenario, watched, server = world.scenario, world.watched, world.store.server
    seconds = scenario.seconds
    shares = {name: sum(server.spent[kind] for kind in kinds) / seconds for name, kinds in KINDS.items()}
    return Figures(
        offered=server.asked["signal"] / seconds,
        acted=len(watched.latencies) / seconds,
        commits=server.asked["commit"] / seconds,
        claims=server.asked["claim"] / seconds,
        renewals=server.asked["renew"] / seconds,
        acted_p50=percentile(watched.latencies, 0.5),
        acted_p99=percentile(watched.latencies, 0.99),
        light_p99=percentile(watched.light_latencies, 0.99),
        store_share=min(1.0, sum(shares.values())),
        slots_share=watched.busy_slots / seconds,
        shares=shares,
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which that share of all is; 0 when there is none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
