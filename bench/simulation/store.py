"""The store of the simulation: journals, the queue, and what every verb of the port costs the server."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from bench.simulation.clockwork import Clockwork, Wait
from bench.simulation.entries import Entries, Entry
from bench.simulation.server import Server
from outlast.ports.queue import Shares
from outlast.runs.crowd import is_found_in_time

EVERYBODY = Shares()
LABEL = "work"


@dataclass(slots=True)
class Journal:
    """What a run's journal comes to: where it ends, how many commits of rounds are still to be made, since when it
    is to be acted on, and since when it was when that was last done."""

    position: int = 0
    left: int = 0
    woken_at: float | None = None
    heard_at: float | None = None


class Store:
    """Every verb hands a request to the server and is answered when that is durable.

    `is_fenced` False leaves out the guard of the generation, `clock_of` gives the time by which a worker's claims go: both are for
    tests, which break the rules to see that it shows.
    """

    def __init__(self, clockwork: Clockwork, server: Server, entries: Entries) -> None:
        self.entries = entries
        self.server = server
        self.journals: dict[str, Journal] = {}
        self.is_fenced = True
        self.clock_of: Callable[[float], float] = lambda _: clockwork.now
        self.rounds: Callable[[], int] = lambda: 0
        self.tell: Callable[[], int] = lambda: 0
        self.watch: Callable[[str, int], None] = lambda _item, _generation: None
        self._clockwork = clockwork

    def claim(self, skew: float, limit: int, lease_seconds: float) -> Wait:
        """Leases on due entries, with the time each was ready."""

        def act() -> tuple[list[tuple[str, int]], float]:
            costs, now = self.server.costs, self.clock_of(skew)
            users = self.entries.users_with_due(now)
            taken = self.entries.claim(now + lease_seconds, limit, now, EVERYBODY)
            looks = len(taken) + (len(taken) < limit)
            seconds = costs.claim + len(taken) * costs.claim_entry + looks * users * costs.claim_user
            for entry in taken:
                self._wake_by_timer(entry)
            return [(entry.item, entry.generation) for entry in taken], seconds

        return self.server.ask("claim", act)

    def renew(self, skew: float, leases: list[tuple[str, int]], lease_seconds: float, seats: int = 0) -> Wait:
        """The items whose leases were extended; the lease of the worker's seat goes with them."""

        def act() -> tuple[set[str], float]:
            costs, now = self.server.costs, self.clock_of(skew)
            until = now + lease_seconds
            kept = {item for item, generation in leases if self.entries.renew(item, generation, until, now)}
            return kept, costs.renew + (seats + len(leases)) * costs.renew_lease

        return self.server.ask("renew", act)

    def next_due(self) -> Wait:
        """When the next entry is due."""
        return self.server.ask(
            "look", lambda: (self.entries.next_due(self._clockwork.now), self.server.costs.look), writes=False
        )

    def read(self, item: str) -> Wait:
        """The journal of a run, as it stands."""
        return self.server.ask(
            "read", lambda: (self.journals[item].position, self.server.costs.read), writes=False
        )

    def append(self, item: str, after: int, generation: int, rounds: int = 0) -> Wait:
        """Append what a worker has done. The answer is empty, or the guard that refused it."""

        def act() -> tuple[str, float]:
            journal = self.journals[item]
            if self.is_fenced and not self.entries.is_held(item, generation):
                return "generation", self.server.costs.commit
            if journal.position != after:
                return "position", self.server.costs.commit
            journal.position += 1
            journal.left -= rounds
            if journal.woken_at is not None:
                journal.heard_at, journal.woken_at = journal.woken_at, None
            self.watch(item, generation)
            return "", self.server.costs.commit

        return self.server.ask("commit", act)

    def release(self, item: str, after: int, generation: int, due_at: float | None) -> Wait:
        """Give a run back, unless something was said to it meanwhile."""

        def act() -> tuple[str, float]:
            seconds = self.server.costs.commit
            if self.journals[item].position != after:
                return "position", seconds
            if not self.entries.release(item, generation, due_at, self._clockwork.now):
                return "generation", seconds
            self.journals[item].position += 1
            if due_at is not None and not is_found_in_time(timedelta(seconds=due_at - self._clockwork.now)):
                self.server.notify(self.tell())
            return "", seconds

        return self.server.ask("commit", act)

    def signal(self, item: str, user: str, rounds: int) -> Wait:
        """Say something to a run: one commit appends it and makes the run due."""

        def act() -> tuple[None, float]:
            now = self._clockwork.now
            journal = self.journals.setdefault(item, Journal())
            journal.position += 1
            journal.left += rounds
            if journal.woken_at is None:
                journal.woken_at = now
            self.entries.enqueue(item, now, user, LABEL, now)
            self.server.notify(self.tell())
            return None, self.server.costs.commit

        return self.server.ask("signal", act)

    def _wake_by_timer(self, entry: Entry) -> None:
        """A run whose time has come has something to do too; one that is only taken over does what was left."""
        journal = self.journals.setdefault(entry.item, Journal())
        if entry.attempts == 1 and journal.left == 0 and journal.woken_at is None:
            journal.left, journal.woken_at = self.rounds(), entry.was_ready_at
