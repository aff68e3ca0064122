"""Faults at every call of a port: first count the calls, then die before or after each of them in turn.

plan = CrashPlan()
await work(Faulty(store, plan, "store"))
for point in plan.points:
    with contextlib.suppress(Crash):
        await work(Faulty(store, CrashPlan(point), "store"))
    await recover_and_check(store)
"""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

from outlast.domain.dataclass import dataclass

T = TypeVar("T")

Side = Literal["before", "after"]


class Crash(BaseException):
    """The process is dead from here on. Not an Exception, so that no handler of errors outlives it."""


@dataclass(frozen=True, slots=True)
class CrashPoint:
    """One side of one call. `label` is the port's name, the verb and how often it was called: `store.commit#7`."""

    label: str
    side: Side


def crash(point: CrashPoint) -> None:
    """Raise Crash."""
    raise Crash(f"{point.side} {point.label}")


class CrashPlan:
    """Where to die, shared by everything that dies together. Without `at` it only counts.

    `die` is called at the point. When it raises Crash the whole plan is dead: every later call raises Crash too, and calls under
    way never return. It may end the process, or raise another error for that call alone, or return to let the call go on.
    """

    def __init__(self, at: CrashPoint | None = None, die: Callable[[CrashPoint], None] = crash) -> None:
        self._at = at
        self._die = die
        self._calls: Counter[str] = Counter()
        self._labels: list[str] = []
        self._is_dead = False
        self.was_reached = False

    @property
    def points(self) -> list[CrashPoint]:
        """Both sides of every call so far, in the order of the calls."""
        return [CrashPoint(label, side) for label in self._labels for side in ("before", "after")]

    def enter(self, call: str) -> str:
        """Number a call that is about to be made, or die before it; returns its label."""
        self._stay_dead()
        self._calls[call] += 1
        label = f"{call}#{self._calls[call]}"
        self._labels.append(label)
        self._meet(CrashPoint(label, "before"))
        return label

    def leave(self, label: str) -> None:
        """Let a call return, or die after it."""
        self._stay_dead()
        self._meet(CrashPoint(label, "after"))

    def _stay_dead(self) -> None:
        if self._is_dead:
            raise Crash("dead already")

    def _meet(self, point: CrashPoint) -> None:
        if point != self._at:
            return
        self.was_reached = True
        try:
            self._die(point)
        except Crash:
            self._is_dead = True
            raise


def Faulty(target: T, plan: CrashPlan, name: str = "") -> T:  # noqa: N802 - a class could not return the type of its target
    """`target` with every call counted by `plan`, which may die before or after it. `name` begins the labels."""
    return cast("T", _Proxy(target, plan, name or type(target).__name__.lower()))


class _Proxy:
    def __init__(self, target: object, plan: CrashPlan, name: str) -> None:
        self._target = target
        self._plan = plan
        self._name = name

    def __getattr__(self, verb: str) -> Any:
        attribute = getattr(self._target, verb)
        if not callable(attribute):
            return attribute
        wrap = self._asynchronous if inspect.iscoroutinefunction(attribute) else self._synchronous
        return wrap(f"{self._name}.{verb}", attribute)

    def _asynchronous(self, call: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def called(*args: object, **kwargs: object) -> Any:
            label = self._plan.enter(call)
            try:
                return await function(*args, **kwargs)
            finally:
                self._plan.leave(label)

        return called

    def _synchronous(self, call: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*args: object, **kwargs: object) -> Any:
            label = self._plan.enter(call)
            try:
                return function(*args, **kwargs)
            finally:
                self._plan.leave(label)

        return called
