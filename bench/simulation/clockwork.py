"""Virtual time: what happens when, one thing after another, the same for the same seed."""

import heapq
from collections.abc import Callable, Generator
from itertools import count
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

StepsTo = Generator["float | Wait", Any, T]
Steps = StepsTo[None]
"""What a process does: it yields seconds to sleep, or something to wait for, and is sent what came of it."""


class Owner(Protocol):
    """Whoever a process belongs to. While it is frozen, none of its processes goes on."""

    frozen_until: float


class Wait:
    """Something that happens once. A process that yields it is sent its value."""

    __slots__ = ("_clockwork", "_waiting", "is_over", "value")

    def __init__(self, clockwork: "Clockwork") -> None:
        self._clockwork = clockwork
        self._waiting: Process | None = None
        self.is_over = False
        self.value: Any = None

    def happen(self, value: Any = None) -> None:
        """Now it has happened. Only the first time counts."""
        if self.is_over:
            return
        self.is_over, self.value = True, value
        if self._waiting is not None:
            self._clockwork.after(0, self._waiting.go_on, value)

    def attend(self, process: "Process") -> None:
        """Let a process go on once it has happened."""
        if self.is_over:
            self._clockwork.after(0, process.go_on, self.value)
        else:
            self._waiting = process


class Process:
    """Steps under way. `end` stops them at whatever they wait for."""

    __slots__ = ("_clockwork", "_steps", "is_alive", "owner")

    def __init__(self, clockwork: "Clockwork", steps: Steps, owner: Owner | None) -> None:
        self._clockwork = clockwork
        self._steps = steps
        self.owner = owner
        self.is_alive = True

    def go_on(self, value: Any = None) -> None:
        """Do the next step, or do it when the owner thaws."""
        if not self.is_alive:
            return
        clockwork = self._clockwork
        if self.owner is not None and self.owner.frozen_until > clockwork.now:
            clockwork.after(self.owner.frozen_until - clockwork.now, self.go_on, value)
            return
        try:
            wanted = self._steps.send(value)
        except StopIteration:
            self.is_alive = False
            return
        if isinstance(wanted, Wait):
            wanted.attend(self)
        else:
            clockwork.after(wanted, self.go_on)

    def end(self) -> None:
        """Go on no more."""
        self.is_alive = False
        self._steps.close()


class Clockwork:
    """The one clock. `now` is in seconds from the beginning."""

    def __init__(self) -> None:
        self.now = 0.0
        self.happenings = 0
        self._numbers = count()
        self._coming: list[tuple[float, int, Callable[[Any], None], Any]] = []

    def after(self, seconds: float, act: Callable[[Any], None], value: Any = None) -> None:
        """Call `act` with `value` then."""
        heapq.heappush(self._coming, (self.now + seconds, next(self._numbers), act, value))

    def begin(self, steps: Steps, owner: Owner | None = None) -> Process:
        """Start a process now."""
        process = Process(self, steps, owner)
        self.after(0, process.go_on)
        return process

    def run_until(self, at: float) -> None:
        """Let everything happen that happens up to then."""
        coming = self._coming
        while coming and coming[0][0] <= at:
            self.now, _, act, value = heapq.heappop(coming)
            self.happenings += 1
            act(value)
        self.now = at
