"""The queue of a store by the rules of `ports/store.py`, in memory, at a cost that does not grow with what waits.

Entries that wait for a signal are nowhere until it comes, those that wait for a time are one number each until it comes. That it
does what a real store does is shown on drawn schedules by `tests/simulation/test_entries.py`.
"""

import heapq
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable

from outlast.ports.queue import Shares

Stamped = tuple[float, int, int, "Entry"]


class Entry:
    """An entry as a store's row has it. `number` tells which came first,
    `was_ready_at` since when it could be claimed when it last was, `stamp` which of its places in a heap still counts."""

    __slots__ = (
        "attempts",
        "due_at",
        "generation",
        "is_counted",
        "item",
        "label",
        "number",
        "stamp",
        "until",
        "user",
        "was_ready_at",
    )

    def __init__(self, item: str, user: str, label: str, number: int) -> None:
        self.item, self.user, self.label, self.number = item, user, label, number
        self.due_at: float | None = None
        self.until: float | None = None
        self.generation = self.attempts = self.stamp = 0
        self.was_ready_at = 0.0
        self.is_counted = False

    @property
    def ready_at(self) -> float | None:
        """When it can be claimed."""
        return self.due_at if self.until is None else self.until


class Dormant:
    """Entries t0, t1, ... that nobody has touched: when each is due, in order, and whose it is."""

    def __init__(
        self, times: Iterable[float] = (), user_of: Callable[[str], str] = lambda _: "nobody"
    ) -> None:
        self.times = array("d", times)
        self.user_of = user_of
        self._head = 0
        self._touched: set[str] = set()

    def first(self) -> tuple[float, str] | None:
        """The one that is due first, and when."""
        while self._head < len(self.times):
            item = f"t{self._head}"
            if item not in self._touched:
                return self.times[self._head], item
            self._touched.discard(item)
            self._head += 1
        return None

    def touch(self, item: str) -> float | None:
        """Have an item no longer among these; returns when it is due, None when it was none of these."""
        if not item.startswith("t"):
            return None
        self._touched.add(item)
        return self.times[int(item[1:])]


class Entries:
    """All entries of one queue. Every verb takes the store's time, which never goes back."""

    def __init__(self, dormant: Dormant | None = None, label: str = "") -> None:
        self._dormant = dormant or Dormant()
        self._label = label
        self._entries: dict[str, Entry] = {}
        self._timers: list[Stamped] = []
        self._leases: list[Stamped] = []
        self._due: list[Stamped] = []
        self._groups: dict[tuple[str, str], list[Stamped]] = defaultdict(list)
        self._labels: dict[str, set[str]] = defaultdict(set)
        self._firsts: list[tuple[int, float, str, str, int]] = []
        self._held: dict[str, int] = defaultdict(int)
        self._held_of_label: dict[str, int] = defaultdict(int)

    def enqueue(self, item: str, due_at: float, user: str, label: str, now: float) -> None:
        """Make an entry due, never later than it was."""
        self._advance(now)
        entry = self._entries.get(item) or self._made(item, user, label, now)
        if entry.due_at is None or entry.due_at > due_at:
            entry.due_at = due_at
            if entry.until is None:
                self._place(entry, now)

    def release(self, item: str, generation: int, due_at: float | None, now: float) -> bool:
        """Give a lease back, if it is still this generation's."""
        self._advance(now)
        if not self.is_held(item, generation):
            return False
        entry = self._entries[item]
        known = [at for at in (entry.due_at, due_at) if at is not None]
        entry.due_at, entry.until, entry.attempts = min(known, default=None), None, 0
        self._place(entry, now)
        return True

    def is_held(self, item: str, generation: int) -> bool:
        """The guard of an append: does the entry still have this generation, and was its lease not given back?"""
        entry = self._entries.get(item)
        return entry is not None and entry.generation == generation and entry.until is not None

    def renew(self, item: str, generation: int, until: float, now: float) -> bool:
        """Extend a lease, if it is still this generation's."""
        self._advance(now)
        if not self.is_held(item, generation):
            return False
        self._entries[item].until = until
        self._place(self._entries[item], now)
        return True

    def claim(self, until: float, limit: int, now: float, shares: Shares) -> list[Entry]:
        """Take leases on due entries: of the users that hold least, the one that is due first."""
        self._advance(now)
        taken: list[Entry] = []
        passed: list[tuple[int, float, str, str, int]] = []
        while len(taken) < limit and (entry := self._first(shares, passed)) is not None:
            entry.was_ready_at = entry.ready_at or 0.0
            entry.generation += 1
            entry.attempts += 1
            entry.until, entry.due_at = until, None
            self._place(entry, now)
            taken.append(entry)
        for first in passed:
            heapq.heappush(self._firsts, first)
        return taken

    def next_due(self, now: float) -> float | None:
        """When the next entry is due, or the lease that holds it ends."""
        self._advance(now)
        if (due := _top(self._due)) is not None:
            return due[0]
        firsts = (_top(self._timers), _top(self._leases), self._dormant.first())
        known = [first[0] for first in firsts if first is not None]
        return min(known, default=None)

    def users_with_due(self, now: float) -> int:
        """How many users have something that could be claimed."""
        self._advance(now)
        return sum(_top(group) is not None for group in self._groups.values())

    def leased(self) -> int:
        """How many leases are live."""
        return sum(self._held.values())

    def _made(self, item: str, user: str, label: str, now: float) -> Entry:
        entry = self._entries[item] = Entry(item, user, label, len(self._entries))
        entry.due_at = self._dormant.touch(item)
        if entry.due_at is not None:
            self._place(entry, now)
        return entry

    def _advance(self, now: float) -> None:
        """Let come due what is due by now, leases that have run out included."""
        dormant = self._dormant
        while (first := dormant.first()) is not None and first[0] <= now:
            self._made(first[1], dormant.user_of(first[1]), self._label, now)
        for heap in (self._timers, self._leases):
            while (top := _top(heap)) is not None and top[0] <= now:
                heapq.heappop(heap)
                self._place(top[3], now)

    def _place(self, entry: Entry, now: float) -> None:
        """Put an entry where it belongs; whatever other place it had counts no more."""
        entry.stamp += 1
        self._count(entry, is_live=entry.until is not None and entry.until > now)
        ready_at = entry.ready_at
        if ready_at is None:
            return
        stamped = (ready_at, entry.number, entry.stamp, entry)
        if ready_at > now:
            heapq.heappush(self._timers if entry.until is None else self._leases, stamped)
            return
        heapq.heappush(self._due, stamped)
        heapq.heappush(self._groups[entry.user, entry.label], stamped)
        self._labels[entry.user].add(entry.label)
        self._offer(entry.user, entry.label)

    def _count(self, entry: Entry, *, is_live: bool) -> None:
        if is_live != entry.is_counted:
            entry.is_counted = is_live
            change = 1 if is_live else -1
            self._held[entry.user] += change
            self._held_of_label[entry.label] += change
        for label in tuple(self._labels.get(entry.user, ())):
            self._offer(entry.user, label)

    def _offer(self, user: str, label: str) -> None:
        """Have the first due entry of a user and label among those that may be next."""
        first = _top(self._groups[user, label])
        if first is None:
            del self._groups[user, label]
            self._labels[user].discard(label)
        else:
            heapq.heappush(self._firsts, (self._held[user], first[0], user, label, first[2]))

    def _first(self, shares: Shares, passed: list[tuple[int, float, str, str, int]]) -> Entry | None:
        while self._firsts:
            held, ready_at, user, label, stamp = first = self._firsts[0]
            group = _top(self._groups[user, label]) if (user, label) in self._groups else None
            is_current = group is not None and (held, ready_at, stamp) == (
                self._held[user],
                group[0],
                group[2],
            )
            if is_current and shares.per_user is not None and held >= shares.per_user:
                return None
            heapq.heappop(self._firsts)
            if not is_current or group is None or group[3].stamp != stamp:
                continue
            if shares.per_label is not None and self._held_of_label[label] >= shares.per_label:
                passed.append(first)
                continue
            return group[3]
        return None


def _top(heap: list[Stamped]) -> Stamped | None:
    """The first of a heap that still counts; the others are dropped."""
    while heap and heap[0][3].stamp != heap[0][2]:
        heapq.heappop(heap)
    return heap[0] if heap else None
