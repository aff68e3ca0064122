"""A call in flight: carried out in one task, that of the user's code it runs, and taken out of it where that code will not stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Final, Protocol, TypeAlias, TypeVar

from outlast.domain.dataclass import dataclass
from outlast.runs.contained import STOP_SECONDS, escaped
from outlast.runs.desk import Outcome

T = TypeVar("T")

Leg: TypeAlias = Callable[[], Awaitable["Outcome | Leg"]]
"""What is carried out of a call in one task: it comes to the outcome, or to the leg with which the call goes on in a new task."""


@dataclass(frozen=True, slots=True)
class Owed:
    """A leg that holds what nobody else knows: it begins even where its call was killed, and is cancelled where it first waits."""

    leg: Leg

    def __call__(self) -> Awaitable[Outcome | Leg]:
        """The leg itself."""
        return self.leg()


_NOT_FOR_US: Final = (SystemExit, GeneratorExit, asyncio.CancelledError)
"""What ends programs, generators and tasks, and none of ours. What else is no Exception, as the crash of a test, goes through."""

Landed = Callable[[Outcome | BaseException | None], None]
"""Told once what a call came to: the outcome, what it let out, or None where it was cancelled."""


class Hold(Protocol):
    """How a call runs a user's code: for so many seconds. Code that will not stop then is left, and the call goes on with `left`."""

    def __call__(self, work: Awaitable[T], seconds: float, left: Leg) -> Awaitable[T]:
        """What `work` comes to. Raises what it raises, TimeoutError and Escaped; Late and Unheard hold what came too late."""
        ...


Effect = Callable[["Flight"], Awaitable[Outcome | Leg]]
"""A call to carry out: bound when its intent is drafted, begun when that is durable, in its flight. A kill may forestall it."""


class Late(TimeoutError):
    """A user's code came to something after its time, and before it was left: `came`."""

    def __init__(self, came: object) -> None:
        super().__init__()
        self.came = came


class Unheard(asyncio.CancelledError):
    """A user's code came to something, `came`, in a call that was killed, or that has gone on without it."""

    def __init__(self, came: object) -> None:
        super().__init__()
        self.came = came


class Flight:
    """One call in flight.

    A user's code can cancel the task it runs in, now or once it has ended. So the call does not wait for anything in a task in which
    such code has ended: it is over at once, or goes on in a new task. What comes of a task that it has left is dropped.

    A cancellation that neither we nor the code asked for is that of a loop that ends, or came from within a provider or its like: the
    call then came to `Escaped`, unless it knows better, since it `is_ending` or not. Nor does a call go on once the task that began
    it is being cancelled, unless its leg is owed.
    """

    __slots__ = (
        "_clock",
        "_context",
        "_ends_before",
        "_is_killed",
        "_is_late",
        "_is_owed",
        "_landed",
        "_owner",
        "_task",
    )

    def __init__(self, landed: Landed) -> None:
        self._landed = landed
        self._context = copy_context()
        self._clock: asyncio.TimerHandle | None = None
        self._is_late = False
        self._is_owed = False
        self._is_killed = False
        self._task: asyncio.Task[None] | None = None
        self._owner = asyncio.current_task()
        self._ends_before = self._times_ended()

    def go_on(self, leg: Leg) -> None:
        """Begin the call, or go on with it, in a task of its own, which knows nothing of what the one before did to its context."""
        self._is_late, self._is_owed = False, isinstance(leg, Owed)
        if not self._is_owed and self._times_ended() > self._ends_before:
            self._task = None
            self._landed(escaped(asyncio.CancelledError()))
        else:
            # not by the loop, whose factory of tasks may begin them before it is known here which task the call is in
            work, context = self._carried_out(leg), self._context.copy()
            self._task = asyncio.Task(work, loop=asyncio.get_running_loop(), context=context)

    def is_ending(self) -> bool:
        """Is a cancellation of its task one that was asked for: by a kill, or with that of the task that began it?"""
        return self._is_killed or self._times_ended() > self._ends_before

    def kill(self) -> asyncio.Task[None]:
        """Cancel the call; returns the task that is to end. Code that was stopped since its time is up is not disturbed again."""
        self._is_killed = True
        self._stop_clock()
        assert self._task is not None, "it has landed"
        if self._is_owed:
            asyncio.get_running_loop().call_soon(self._task.cancel)  # by then it has begun
        elif not self._is_late:
            self._task.cancel()
        return self._task

    async def held(self, work: Awaitable[T], seconds: float, left: Leg) -> T:
        """`Hold`, in the task of the call: nothing may be waited for in it afterwards. Raises CancelledError when killed or left."""
        task = self._task
        assert task is not None, "it runs in it"
        self._clock = asyncio.get_running_loop().call_later(seconds, self._stop, left)
        try:
            came = await work
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            self._must_be_awaited(task)
            if isinstance(error, Exception):
                raise
            raise escaped(error) from error
        self._must_be_awaited(task, came)
        if task.cancelling() and (own := await _cancellation_to_come()):
            self._must_be_awaited(task, came)
            raise escaped(own, came)
        return came

    def _must_be_awaited(self, task: asyncio.Task[None], came: object = None) -> None:
        """Raise where what the code came to in this task is too late, whatever it is."""
        if self._task is not task or self._is_killed:
            raise Unheard(came)
        if self._is_late:
            raise Late(came)

    def _stop(self, left: Leg) -> None:
        self._is_late = True
        self._clock = asyncio.get_running_loop().call_later(STOP_SECONDS, self.go_on, left)
        if self._task is not None:
            self._task.cancel()

    def _times_ended(self) -> int:
        """How often it was asked of the task that began the call to end."""
        return 0 if self._owner is None else self._owner.cancelling()

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()

    async def _carried_out(self, leg: Leg) -> None:
        task = self._task
        came: Outcome | Leg | BaseException | None = None
        try:
            came = await leg()
        except BaseException as error:
            is_kill = self._is_killed and isinstance(error, asyncio.CancelledError)
            if self._task is not task or is_kill:
                raise
            came = escaped(error) if isinstance(error, _NOT_FOR_US) else error
        finally:
            if self._task is task:
                self._stop_clock()
                self._came_to(came)

    def _came_to(self, came: Outcome | Leg | BaseException | None) -> None:
        if came is None or isinstance(came, (Outcome, BaseException)):
            self._landed(came)
        else:
            self.go_on(came)


async def _cancellation_to_come() -> asyncio.CancelledError | None:
    """The cancellation that the present task was asked for and has not met yet, if there is one."""
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError as error:
        return error
    return None
