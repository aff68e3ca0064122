"""What every driver of background tasks promises, as tests to inherit.

class TestMyDriver(BackgroundDriverContract):
    @pytest.fixture
    def subject(self) -> DriverSubject:
        return DriverSubject(driver=..., another=..., begin=...)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Final, Literal, get_args

import pytest

from outlast.domain.dataclass import dataclass
from outlast.ports.background_driver import (
    Acknowledged,
    Answer,
    BackgroundDriver,
    Forgotten,
    Handle,
    RemoteStatus,
    Snapshot,
    Trouble,
)

Course = Literal["completes", "goes_on", "asks", "fails"]
"""How a task is to go: at once to its end, for minutes, with one question to a person first, to an error."""

DEADLINE_SECONDS: Final = 5.0

_COURSES: Final[tuple[Course, ...]] = get_args(Course)
_PATIENCE_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.02
_OPEN: Final = frozenset({RemoteStatus.WORKING, RemoteStatus.INPUT_REQUIRED})


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverSubject:
    """A driver under test, another one of the kind that shares nothing with it, as in another process, and how tasks are begun.

    `answer` is what the question of a task that asks takes. `unplug` makes the other side unreachable.
    """

    driver: BackgroundDriver
    another: BackgroundDriver
    begin: Callable[[Course], Awaitable[Handle]]
    answer: Answer
    unplug: Callable[[], None]


class BackgroundDriverContract:
    """Inherit, and give a fixture `subject`."""

    pytestmark = pytest.mark.asyncio

    async def test_task_is_followed_to_its_end(self, subject: DriverSubject) -> None:
        ended = await ended_by(subject.driver, await subject.begin("completes"))
        assert ended.status is RemoteStatus.COMPLETED
        assert ended.product is not None
        assert not ended.product.is_error
        assert ended.error is None

    async def test_task_is_followed_by_a_driver_that_knows_nothing_but_the_handle(
        self, subject: DriverSubject
    ) -> None:
        handle = await subject.begin("completes")
        stored = replace(handle, data=dict(handle.data))
        first, second = await ended_by(subject.another, stored), await ended_by(subject.driver, handle)
        assert first == second

    async def test_failure_of_the_work_is_told(self, subject: DriverSubject) -> None:
        ended = await ended_by(subject.driver, await subject.begin("fails"))
        if ended.status is RemoteStatus.COMPLETED:
            assert ended.product is not None
            assert ended.product.is_error
        else:
            assert ended.status is RemoteStatus.FAILED
            assert ended.error

    async def test_open_task_is_cancelled_however_often_it_is_asked_for(self, subject: DriverSubject) -> None:
        handle = await subject.begin("goes_on")
        assert (await seen_by(subject.driver, handle)).status in _OPEN
        if not subject.driver.can_cancel:
            pytest.skip("tasks of this kind cannot be cancelled")
        assert isinstance(await subject.driver.cancel(handle, DEADLINE_SECONDS), Acknowledged)
        assert (await ended_by(subject.driver, handle)).status is RemoteStatus.CANCELLED
        again = await subject.another.cancel(handle, DEADLINE_SECONDS)
        assert isinstance(again, Acknowledged | Forgotten)

    async def test_question_is_told_and_its_answer_taken_once_or_twice(self, subject: DriverSubject) -> None:
        if not subject.driver.can_answer:
            pytest.skip("tasks of this kind ask nothing")
        handle = await subject.begin("asks")
        asked = await seen_by(subject.driver, handle, RemoteStatus.INPUT_REQUIRED)
        [key] = asked.questions
        assert asked.questions[key].message
        for driver in (subject.another, subject.driver):
            reply = await driver.answer(handle, {key: subject.answer}, DEADLINE_SECONDS)
            assert isinstance(reply, Acknowledged | Forgotten)
        assert (await ended_by(subject.driver, handle)).status is RemoteStatus.COMPLETED

    async def test_remote_id_stands_in_no_word_of_the_other_side(self, subject: DriverSubject) -> None:
        for course in _COURSES:
            handle = await subject.begin(course)
            seen = await seen_by(subject.driver, handle)
            assert handle.remote_id not in str(asdict(seen))
            if course in ("completes", "fails"):
                assert handle.remote_id not in str(asdict(await ended_by(subject.driver, handle)))

    async def test_task_nobody_knows_is_forgotten(self, subject: DriverSubject) -> None:
        handle = replace(await subject.begin("completes"), remote_id="no-such-task")
        assert isinstance(await subject.driver.poll(handle, DEADLINE_SECONDS), Forgotten)

    async def test_task_of_another_principal_is_not_touched(self, subject: DriverSubject) -> None:
        handle = replace(await subject.begin("goes_on"), principal="somebody else")
        for reply in (
            await subject.driver.poll(handle, DEADLINE_SECONDS),
            await subject.driver.cancel(handle, DEADLINE_SECONDS),
            await subject.driver.answer(handle, {"k": subject.answer}, DEADLINE_SECONDS),
        ):
            assert isinstance(reply, Trouble)
            assert not reply.passing
            assert reply.next_step

    async def test_handle_shows_no_secret(self, subject: DriverSubject) -> None:
        handle = await subject.begin("completes")
        assert handle.remote_id not in repr(handle)
        assert repr(dict(handle.data)) not in repr(handle)
        polled = await subject.driver.poll(handle, DEADLINE_SECONDS)
        assert handle.remote_id not in repr(polled)

    async def test_other_side_that_is_away_is_passing_trouble_within_the_deadline(
        self, subject: DriverSubject
    ) -> None:
        handle = await subject.begin("goes_on")
        subject.unplug()
        async with asyncio.timeout(DEADLINE_SECONDS + 5):
            reply = await subject.driver.poll(handle, DEADLINE_SECONDS)
        assert isinstance(reply, Trouble)
        assert reply.passing
        assert handle.remote_id not in reply.detail


async def seen_by(driver: BackgroundDriver, handle: Handle, status: RemoteStatus | None = None) -> Snapshot:
    """The first snapshot (with a status, where one is wanted), with a bound."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while True:
            reply = await driver.poll(handle, DEADLINE_SECONDS)
            if isinstance(reply, Snapshot) and status in (None, reply.status):
                return reply
            await asyncio.sleep(_PAUSE_SECONDS)


async def ended_by(driver: BackgroundDriver, handle: Handle) -> Snapshot:
    """The first snapshot of a task that has ended, with a bound."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while (seen := await seen_by(driver, handle)).status in _OPEN:  # noqa: ASYNC110 - the end of a remote task is no event here
            await asyncio.sleep(_PAUSE_SECONDS)
    return seen
