"""Calls in flight: a user's code runs in the task of its call, which it can neither hold up nor end, whatever it does to its task."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

import pytest

from outlast.runs import flight as flight_module
from outlast.runs.contained import Escaped
from outlast.runs.desk import Outcome
from outlast.runs.flight import Flight, Leg
from tests.patience import PATIENCE_SECONDS

HOUR_SECONDS = 3600.0
SOON_SECONDS = 0.01

Work = Callable[[], Awaitable[object]]


@pytest.fixture(autouse=True)
def what_will_not_stop_is_left_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight_module, "STOP_SECONDS", SOON_SECONDS)


class Called:
    """A call that runs `work`, and what it was told to have come to: `came`, and each time it landed, `landings`."""

    def __init__(self, work: Work, seconds: float = HOUR_SECONDS) -> None:
        self.came: list[object] = []
        self.landings: list[object] = []
        self.ended = asyncio.Event()
        self.flight = Flight(self._landed)
        self.flight.go_on(self._first(work, seconds))
        assert self.flight._task is not None
        self.first_task = self.flight._task

    def _first(self, work: Work, seconds: float) -> Leg:
        async def leg() -> Outcome | Leg:
            try:
                self.came.append(await self.flight.held(work(), seconds, self._left))
            except (Escaped, TimeoutError, ValueError) as error:
                self.came.append(error)
            return Outcome([])

        return leg

    async def _left(self) -> Outcome | Leg:
        assert asyncio.current_task() is not self.first_task
        self.came.append("left")
        return self._later

    async def _later(self) -> Outcome:
        self.came.append("later")
        return Outcome([])

    def _landed(self, came: object) -> None:
        self.landings.append(came)
        self.ended.set()

    async def over(self) -> object:
        """What its code came to, once the call and the task of its code have ended."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.ended.wait()
            await asyncio.wait({self.first_task})
        assert len(self.landings) == 1
        [came] = self.came
        return came


def own_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def cancels_its_task_and_goes_on() -> object:
    own_task().cancel()
    await asyncio.Event().wait()
    return "never"


async def cancels_its_task_and_returns() -> object:
    own_task().cancel()
    return "never"


async def swallows_its_own_cancellation() -> object:
    own_task().cancel()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return "went on"


async def takes_its_cancellation_back() -> object:
    await swallows_its_own_cancellation()
    own_task().uncancel()
    return "went on"


async def takes_back_what_nobody_asked_for() -> object:
    own_task().uncancel()
    return "went on"


async def raises_a_cancellation() -> object:
    raise asyncio.CancelledError


async def quits() -> object:
    raise SystemExit(4)


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (cancels_its_task_and_goes_on, "CancelledError: it cancelled itself"),
        (cancels_its_task_and_returns, "CancelledError: it cancelled itself"),
        (raises_a_cancellation, "CancelledError: it cancelled itself"),
        (quits, "SystemExit: 4"),
    ],
)
async def test_code_that_cancels_its_own_task_or_quits_has_escaped(work: Work, told: str) -> None:
    error = await Called(work).over()
    assert isinstance(error, Escaped)
    assert str(error) == told


@pytest.mark.parametrize(
    "work",
    [swallows_its_own_cancellation, takes_its_cancellation_back, takes_back_what_nobody_asked_for],
)
async def test_code_that_goes_on_after_its_own_cancellation_comes_to_what_it_returns(work: Work) -> None:
    assert await Called(work).over() == "went on"


@pytest.mark.parametrize("ending", ["raises", "returns", "fails", "takes back", "cancels itself too"])
async def test_code_out_of_time_that_stops_has_timed_out_however_it_stops(ending: str) -> None:
    async def work() -> object:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if ending == "raises":
                raise
            if ending == "fails":
                raise ValueError from None
            if ending == "takes back":
                own_task().uncancel()
            if ending == "cancels itself too":
                own_task().cancel()
        return "late"

    assert isinstance(await Called(work, SOON_SECONDS).over(), TimeoutError)


class Stubborn:
    """Code that swallows every cancellation until it is let go; then it ends in one of several ways."""

    def __init__(self, ending: str) -> None:
        self.cancellations = 0
        self.began, self.let_go = asyncio.Event(), asyncio.Event()
        self._ending = ending

    async def __call__(self) -> object:
        self.began.set()
        while not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                self.cancellations += 1
        if self._ending == "quits":
            raise SystemExit(4)
        if self._ending == "fails":
            raise ValueError("late")
        if self._ending == "cancels itself":
            own_task().cancel()
        return "late"


@pytest.mark.parametrize("ending", ["returns", "fails", "quits", "cancels itself"])
async def test_code_that_will_not_stop_is_left_and_its_call_goes_on_without_it(ending: str) -> None:
    unheard: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: unheard.append(context))
    work = Stubborn(ending)
    called = Called(work, SOON_SECONDS)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await called.ended.wait()
    assert called.came == ["left", "later"]
    assert work.cancellations == 1
    assert not called.first_task.done()
    work.let_go.set()
    await asyncio.wait({called.first_task}, timeout=PATIENCE_SECONDS)
    assert called.first_task.cancelled()
    assert called.came == ["left", "later"]
    assert [type(came) for came in called.landings] == [Outcome]
    del called
    assert unheard == []


@pytest.mark.parametrize("ending", ["returns", "fails", "quits", "cancels itself"])
async def test_code_that_swallows_a_kill_is_not_heard_however_it_ends(ending: str) -> None:
    work = Stubborn(ending)
    called = Called(work, SOON_SECONDS)
    await work.began.wait()
    task = called.flight.kill()
    await asyncio.sleep(0)
    assert work.cancellations == 1
    work.let_go.set()
    await asyncio.wait({task}, timeout=PATIENCE_SECONDS)
    assert task.cancelled()
    assert (called.came, called.landings) == ([], [None])


async def test_a_kill_while_code_out_of_time_stops_ends_the_call_and_does_not_disturb_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(flight_module, "STOP_SECONDS", HOUR_SECONDS)
    is_stopping, may_stop, has_stopped = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> object:
        try:
            await asyncio.Event().wait()
        finally:
            is_stopping.set()
            await may_stop.wait()
            has_stopped.set()

    called = Called(work, SOON_SECONDS)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await is_stopping.wait()
        task = called.flight.kill()
        may_stop.set()
        await asyncio.wait({task})
    assert has_stopped.is_set()
    assert (called.came, called.landings) == ([], [None])


async def test_a_kill_reaches_the_task_in_which_a_call_went_on() -> None:
    reached = asyncio.Event()
    landings: list[object] = []

    async def waits() -> Outcome:
        reached.set()
        await asyncio.Event().wait()
        return Outcome([])

    async def begins() -> Leg:
        return waits

    flight = Flight(landings.append)
    flight.go_on(begins)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await reached.wait()
        await asyncio.wait({flight.kill()})
    assert landings == [None]


async def test_a_call_goes_on_in_a_task_that_its_code_cannot_reach() -> None:
    """Neither by a cancellation that comes once it has ended, nor by what it left in its context."""
    left_there: ContextVar[str] = ContextVar("left_there", default="nothing")
    tasks: list[asyncio.Task[Any]] = []
    seen: list[str] = []
    ended = asyncio.Event()

    async def meddles() -> object:
        tasks.append(own_task())
        left_there.set("something")
        return None

    async def goes_on() -> Outcome:
        seen.append(left_there.get())
        tasks[0].cancel()
        await asyncio.sleep(0)
        return Outcome([])

    async def begins() -> Leg:
        await flight.held(meddles(), HOUR_SECONDS, goes_on)
        return goes_on

    landings: list[object] = []
    flight = Flight(lambda came: (landings.append(came), ended.set())[0])
    flight.go_on(begins)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await ended.wait()
    assert seen == ["nothing"]
    assert [type(came) for came in landings] == [Outcome]


async def test_a_call_whose_code_ended_in_time_is_not_stopped_afterwards() -> None:
    async def quick() -> object:
        return "done"

    called = Called(quick, SOON_SECONDS)
    assert await called.over() == "done"
    clock = called.flight._clock
    assert clock is not None
    assert clock.cancelled()


@pytest.mark.parametrize(
    ("let_out", "told"),
    [
        (ValueError("so"), "so"),
        (SystemExit(4), "SystemExit: 4"),
        (GeneratorExit("so"), "GeneratorExit: so"),
    ],
)
async def test_what_a_leg_lets_out_is_told_and_ends_neither_its_loop_nor_its_worker(
    let_out: BaseException, told: str
) -> None:
    landings: list[object] = []
    ended = asyncio.Event()

    async def fails() -> Outcome:
        raise let_out

    flight = Flight(lambda came: (landings.append(came), ended.set())[0])
    flight.go_on(fails)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await ended.wait()
    assert all(isinstance(came, Exception) for came in landings)
    assert [str(came) for came in landings] == [told]


async def test_code_left_by_a_call_that_does_not_go_on_is_not_heard() -> None:
    work = Stubborn("returns")
    begun: list[Called] = []
    may_end = asyncio.Event()

    async def begins() -> None:
        begun.append(Called(work, SOON_SECONDS))
        try:
            await asyncio.Event().wait()
        finally:
            await may_end.wait()

    owner = asyncio.create_task(begins())
    async with asyncio.timeout(PATIENCE_SECONDS):
        await work.began.wait()
        [called] = begun
        owner.cancel()
        await called.ended.wait()
        work.let_go.set()
        may_end.set()
        await asyncio.wait({called.first_task, owner})
    assert ([type(came) for came in called.landings], called.came) == ([Escaped], [])


async def test_no_leg_is_begun_by_a_factory_of_tasks_which_may_do_so_before_it_is_known() -> None:
    """As that of loops that begin tasks at once, in Python 3.12 and later."""
    landings: list[object] = []
    ended = asyncio.Event()

    async def first() -> Outcome | Leg:
        await asyncio.sleep(0)
        return second

    async def second() -> Outcome:
        return Outcome([])

    def factory(loop: asyncio.AbstractEventLoop, work: Any, **given: Any) -> Any:
        work.close()
        raise AssertionError("a call was begun by the factory")

    flight = Flight(lambda came: (landings.append(came), ended.set())[0])
    loop = asyncio.get_running_loop()
    loop.set_task_factory(factory)
    try:
        flight.go_on(first)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await ended.wait()
    finally:
        loop.set_task_factory(None)
    assert landings == [Outcome([])]
