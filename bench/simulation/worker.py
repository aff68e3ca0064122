"""A worker of the simulation: claims, renews, carries runs on, and may be killed or frozen at any moment.

It rests by the rules of `runs/shift.py`, beats like `runs/heartbeat.py` and judges its leases by those of `runs/desk.py`.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bench.simulation.clockwork import Process, Steps, StepsTo, Wait
from outlast.ports.queue import Claim
from outlast.runs.crowd import hold_back_seconds
from outlast.runs.desk import Lease
from outlast.runs.shift import rest_seconds

if TYPE_CHECKING:
    from bench.simulation.world import World

BEATS_A_LEASE = 3
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Worker:
    """One process with `slots` for runs. `skew` is how far its own wall clock is off, in seconds.

    `is_careful` False, for tests, has it not ask whether it still holds a lease; `is_wary` False has it claim as soon as it hears
    of anything, without a look.
    """

    def __init__(self, world: "World", number: int, skew: float) -> None:
        self.number = number
        self.skew = skew
        self.frozen_until = 0.0
        self.is_alive = False
        self.is_careful = self.is_wary = True
        self.leases: dict[str, Lease] = {}
        self._world = world
        self._clockwork = world.clockwork
        self._store = world.store
        self._processes: set[Process] = set()
        self._is_touched = False
        self._claim_seconds = 0.0
        self._rest: Wait | None = None

    @property
    def room(self) -> int:
        """How many more runs it may take."""
        return self._world.scenario.slots - len(self.leases)

    def start(self) -> None:
        """Begin, after anything else that happens now."""
        self.is_alive, self._is_touched, self._rest = True, False, None
        self._begin(self._serve())
        self._begin(self._beat())

    def crash(self) -> None:
        """Be gone at once; what it asked for is still done, and answered to nobody."""
        self.is_alive = False
        for process in self._processes:
            process.end()
        self._processes.clear()
        self.leases.clear()

    def touch(self) -> None:
        """Be told that something became due."""
        self._is_touched = True
        if self._rest is not None and self.room:
            self._rest.happen()

    def is_sure_of(self, lease: Lease) -> bool:
        """Does it surely hold this lease, by its own elapsed time? The rule of `Desk.is_mine`."""
        return not lease.is_lost and self._clockwork.now < lease.until_seconds

    def _begin(self, steps: Steps) -> None:
        self._processes = {process for process in self._processes if process.is_alive}
        self._processes.add(self._clockwork.begin(steps, self))

    def _serve(self) -> Steps:
        """What `Shift` does: look, claim what is due, rest until something may be, and hold back in a crowd."""
        while True:
            due_in, has_taken = None, False
            if self.room:
                due_in = self._due_in((yield self._store.next_due()))
                if not self.is_wary or (due_in is not None and due_in <= 0):
                    has_taken = yield from self._claimed()
            if self.room and has_taken:
                due_in = self._due_in((yield self._store.next_due()))
            had_room = bool(self.room)
            yield self._resting(rest_seconds(due_in, has_taken=has_taken) if had_room else None)
            self._is_touched, self._rest = False, None
            if had_room and self.is_wary:
                chance = self._world.chance.random()
                yield hold_back_seconds(self._world.scenario.workers, self._claim_seconds, chance)

    def _claimed(self) -> StepsTo[bool]:
        asked = self._clockwork.now
        taken = yield self._store.claim(self.skew, self.room, self._world.scenario.lease_seconds)
        self._claim_seconds = self._clockwork.now - asked
        for item, generation in taken:
            self._take_up(item, generation, asked)
        return bool(taken)

    def _due_in(self, due_at: float | None) -> float | None:
        return None if due_at is None else due_at - self._clockwork.now

    def _resting(self, seconds: float | None) -> Wait:
        self._rest = rest = Wait(self._clockwork)
        if seconds is not None:
            self._clockwork.after(0 if self._is_touched else seconds, rest.happen)
        return rest

    def _beat(self) -> Steps:
        scenario = self._world.scenario
        while True:
            yield scenario.lease_seconds / BEATS_A_LEASE
            asked, held = self._clockwork.now, dict(self.leases)
            wanted = [(item, lease.claim.generation) for item, lease in held.items()]
            kept = yield self._store.renew(self.skew, wanted, scenario.lease_seconds, seats=1)
            for item, lease in held.items():
                if item in kept:
                    lease.was_renewed(asked)
                else:
                    lease.is_lost = True

    def _take_up(self, item: str, generation: int, asked: float) -> None:
        claim = Claim("runs", item, generation, _EPOCH, _EPOCH)
        lease = Lease(claim, asked, self._world.scenario.lease_seconds)
        self.leases[item] = lease
        self._begin(self._carry(item, lease))

    def _carry(self, item: str, lease: Lease) -> Steps:
        """Carry a run on until it waits again; leave it when the lease is lost."""
        try:
            yield from self._rounds(item, lease)
        finally:
            if self.leases.get(item) is lease:
                del self.leases[item]
                if self._rest is not None:
                    self._rest.happen()

    def _rounds(self, item: str, lease: Lease) -> Steps:
        world, store, generation = self._world, self._store, lease.claim.generation
        position = yield from self._begun(item, generation)
        while position is not None and not (lease.is_lost and self.is_careful):
            if store.journals[item].left <= 0:
                refused = yield store.release(item, position, generation, world.next_timer())
                if refused == "":
                    return
                position = (yield store.read(item)) if refused == "position" else None
                continue
            yield world.call_seconds()
            if self.is_careful and not self.is_sure_of(lease):
                kept = yield store.renew(self.skew, [(item, generation)], world.scenario.lease_seconds)
                lease.is_lost = item not in kept
                continue
            world.acts(self, item, lease)
            position = yield from self._appended(item, position, generation)

    def _begun(self, item: str, generation: int) -> StepsTo[int | None]:
        """Read the journal and write the claim into it; the position then, None when somebody else has the run."""
        position = yield self._store.read(item)
        position = yield from self._appended(item, position, generation, rounds=0)
        self._world.acted(item)
        return position

    def _appended(self, item: str, position: int, generation: int, rounds: int = 1) -> StepsTo[int | None]:
        """Append, at a new position where others have spoken; the position then, None when the lease was lost."""
        while True:
            refused = yield self._store.append(item, position, generation, rounds)
            if refused == "":
                return position + 1
            if refused == "generation":
                return None
            position = yield self._store.read(item)
