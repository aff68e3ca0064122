"""The whole: workers, one store, people who say things, faults, and somebody who watches what must hold."""

import random
from collections import Counter
from dataclasses import dataclass, field

from bench.simulation.clockwork import Clockwork, Steps
from bench.simulation.costs import Costs
from bench.simulation.entries import Dormant, Entries
from bench.simulation.server import Server
from bench.simulation.store import LABEL, Store
from bench.simulation.worker import Worker
from outlast.runs.desk import Lease

DAY_SECONDS = 86_400.0
STEP_SECONDS = 5.0
LONGEST = 3
"""How many times as long as the mean the longest run is, so that everything can be waited for."""

HEAVY = "u0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What is simulated. Times in seconds; rates are of the whole system, faults of one worker.

    Half of the runs that wait do so for a time within a day, the others for somebody to say something. One user of `users` says
    `heavy_share` of everything.
    """

    costs: Costs
    wakes_a_second: float
    workers: int = 1000
    slots: int = 4
    waiting: int = 1_000_000
    users: int = 100
    heavy_share: float = 0.5
    rounds: float = 5.0
    call_seconds: float = 4.0
    seconds: float = 120.0
    lease_seconds: float = 15.0
    crashes_an_hour: float = 2.0
    freezes_an_hour: float = 1.0
    restart_seconds: float = 10.0
    skew_seconds: float = 60.0
    seed: int = 1


@dataclass(slots=True)
class Watched:
    """What was seen. `broken` names promises that did not hold, `latencies` go from a wake-up's commit to its first event."""

    latencies: list[float] = field(default_factory=list)
    light_latencies: list[float] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)
    appended: int = 0
    calls: int = 0
    crashes: int = 0
    freezes: int = 0
    busy_slots: float = 0.0


class World:
    """A simulation that is set up and has not begun."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.clockwork = Clockwork()
        self.chance = random.Random(scenario.seed)
        self.watched = Watched()
        self.store = self._made_store()
        skew = scenario.skew_seconds
        self.workers = [Worker(self, n, self.chance.uniform(-skew, skew)) for n in range(scenario.workers)]
        self._surest: dict[str, tuple[Worker, Lease]] = {}
        self._newest: dict[str, int] = {}
        self._is_quiet = False

    def run(self) -> None:
        """Let the scenario happen, then let faults and signals stop and the rest be done."""
        scenario, clockwork = self.scenario, self.clockwork
        for worker in self.workers:
            clockwork.after(
                self.chance.uniform(0, scenario.lease_seconds / 3), lambda one: one.start(), worker
            )
        for steps in (self._people(), self._faults(), self._census()):
            clockwork.begin(steps)
        clockwork.run_until(scenario.seconds)

    def settle(self, at_most_seconds: float) -> list[str]:
        """No more faults or signals: the runs that still have something to do after so long."""
        self._is_quiet = True
        journals, until = self.store.journals, self.clockwork.now + at_most_seconds
        left = list(journals)
        while left and self.clockwork.now < until:
            self.clockwork.run_until(self.clockwork.now + STEP_SECONDS)
            left = [item for item in left if journals[item].left or journals[item].woken_at is not None]
        return left

    def user_of(self, item: str) -> str:
        """Whose run it is."""
        number = int(item[1:])
        return (
            HEAVY if number % 1000 < 1000 * self.scenario.heavy_share else f"u{number % self.scenario.users}"
        )

    def drawn_rounds(self) -> int:
        """How many commits of rounds a run makes once it is woken: two a round."""
        most = LONGEST * self.scenario.rounds
        return 2 * (1 + int(min(self.chance.expovariate(1 / self.scenario.rounds), most)))

    def call_seconds(self) -> float:
        """How long a call takes, of a model or a tool."""
        return self.chance.expovariate(1 / self.scenario.call_seconds)

    def next_timer(self) -> float | None:
        """When a run that has done what it could is due again: half of them when somebody says something."""
        if self._is_quiet or self.chance.random() < 0.5:
            return None
        return self.clockwork.now + self.chance.uniform(60, DAY_SECONDS)

    def acted(self, item: str) -> None:
        """A worker's first event on a run that was to be acted on is durable."""
        journal = self.store.journals[item]
        if journal.heard_at is not None and not self._is_quiet:
            seconds = self.clockwork.now - journal.heard_at
            self.watched.latencies.append(seconds)
            if self.user_of(item) != HEAVY:
                self.watched.light_latencies.append(seconds)
        journal.heard_at = None

    def acts(self, worker: Worker, item: str, lease: Lease) -> None:
        """A worker is about to make a call that must not be made by two."""
        self.watched.calls += 1
        before = self._surest.get(item)
        if (
            before is not None
            and before[0] is not worker
            and before[0].is_alive
            and before[0].is_sure_of(before[1])
        ):
            held = before[0].leases.get(item)
            if held is before[1]:
                self.watched.broken["two workers were sure of one run"] += 1
        self._surest[item] = (worker, lease)

    def _made_store(self) -> Store:
        scenario = self.scenario
        times = sorted(self.chance.uniform(0, DAY_SECONDS) for _ in range(scenario.waiting // 2))
        entries = Entries(Dormant(times, self.user_of), LABEL)
        store = Store(self.clockwork, Server(self.clockwork, scenario.costs), entries)
        store.rounds, store.tell, store.watch = self.drawn_rounds, self._tell, self._watch
        return store

    def _tell(self) -> int:
        """Have all workers hear of a commit; how many they are."""
        self.clockwork.after(self.scenario.costs.hearing, self._told)
        return sum(worker.is_alive for worker in self.workers)

    def _told(self, _: None) -> None:
        for worker in self.workers:
            if worker.is_alive:
                worker.touch()

    def _watch(self, item: str, generation: int) -> None:
        self.watched.appended += 1
        newest = self._newest[item] = max(generation, self._newest.get(item, 0))
        if generation < newest:
            self.watched.broken["a stale worker's write was taken"] += 1
        if self.store.journals[item].left < 0:
            self.watched.broken["a step was done twice"] += 1

    def _people(self) -> Steps:
        """Somebody says something to a run that waits for it, now and then."""
        scenario, chance = self.scenario, self.chance
        while True:
            yield chance.expovariate(scenario.wakes_a_second)
            if self._is_quiet:
                return
            item = f"s{chance.randrange(scenario.waiting // 2)}"
            self.store.signal(item, self.user_of(item), self.drawn_rounds())

    def _faults(self) -> Steps:
        """Workers are killed and started again, or frozen for longer than their leases hold."""
        scenario, chance = self.scenario, self.chance
        per_second = scenario.workers * (scenario.crashes_an_hour + scenario.freezes_an_hour) / 3600
        while per_second:
            yield chance.expovariate(per_second)
            worker = chance.choice(self.workers)
            if self._is_quiet:
                return
            if not worker.is_alive or worker.frozen_until > self.clockwork.now:
                continue
            if (
                chance.random() * (scenario.crashes_an_hour + scenario.freezes_an_hour)
                < scenario.crashes_an_hour
            ):
                worker.crash()
                self.watched.crashes += 1
                self.clockwork.after(scenario.restart_seconds, lambda one: one.start(), worker)
            else:
                worker.frozen_until = self.clockwork.now + chance.uniform(1, 3) * scenario.lease_seconds
                self.watched.freezes += 1

    def _census(self) -> Steps:
        """How many slots are taken, on the whole."""
        slots = self.scenario.workers * self.scenario.slots
        while not self._is_quiet:
            yield 1.0
            self.watched.busy_slots += sum(len(worker.leases) for worker in self.workers) / slots
