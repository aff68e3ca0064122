"""Running a user's code so that it can neither hold the engine up nor end it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from outlast.domain.door import in_words

T = TypeVar("T")

STOP_SECONDS: Final = 2.0
"""How long code whose time is up may take to stop after it was cancelled; then it is left to itself."""


class Escaped(Exception):
    """What a user's code let out that is no Exception: SystemExit and its like, or a cancellation that nobody had asked for.

    `came` is what it had come to all the same, where it had.
    """

    def __init__(self, words: str, came: object = None) -> None:
        super().__init__(words)
        self.came = came


def escaped(error: BaseException, came: object = None) -> Escaped:
    """What a user's code let out that is no Exception, as one."""
    is_cancellation = isinstance(error, asyncio.CancelledError)
    words = f"{type(error).__name__}: it cancelled itself" if is_cancellation else in_words(error)
    return Escaped(words, came)


async def contained(work: Awaitable[T], seconds: float) -> T:
    """What `work` comes to, in a task of its own; when this is cancelled, so is the work, and its end is waited for.

    Raises what it raises; TimeoutError when it has not ended within `seconds`, whether it then stops or not; Escaped.
    """
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    task = loop.create_task(_told(work, over))
    clock = loop.call_later(seconds, _set, over)
    try:
        await over
    except asyncio.CancelledError:
        await _stopped(task, None)
        raise
    finally:
        clock.cancel()
    if not task.done():
        await _stopped(task, STOP_SECONDS)
        raise TimeoutError
    if task.cancelled():
        raise escaped(asyncio.CancelledError())
    return task.result()


async def within(work: Awaitable[T], seconds: float) -> T:
    """What `work` comes to, in a task of its own; once its time is up, or this is cancelled, it is cancelled and not waited for.

    Raises what it raises; TimeoutError when it has not ended within `seconds`; Escaped.
    """
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    task = loop.create_task(_told(work, over))
    clock = loop.call_later(seconds, _set, over)
    try:
        await over
    finally:
        clock.cancel()
        if not task.done():
            task.cancel()
            task.add_done_callback(is_heard)
    if not task.done():
        raise TimeoutError
    if task.cancelled():
        raise escaped(asyncio.CancelledError())
    return task.result()


async def in_thread(function: Callable[[], T]) -> T:
    """What `function` comes to in a thread that does not outlive the process, unlike those of `asyncio.to_thread`.

    Raises what it raises, and Escaped. A thread cannot be stopped: who no longer waits leaves it to itself.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def tell(setter: Callable[[Any], None], value: object) -> None:
        if not result.done():
            setter(value)

    def work() -> None:
        try:
            told: tuple[Callable[[Any], None], object] = result.set_result, function()
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to whoever waits
            told = result.set_exception, error
        except BaseException as error:  # noqa: BLE001 - whoever waits would wait in vain
            told = result.set_exception, escaped(error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, *told)

    threading.Thread(target=work, name="outlast-user-code", daemon=True).start()
    return await result


async def _told(work: Awaitable[T], over: asyncio.Future[None]) -> T:
    """What `work` comes to; that it is over is told by itself, a turn of the loop before a callback of the task would.

    An event loop passes SystemExit on to whoever runs it, so neither it nor its like may leave the task.
    """
    try:
        return await work
    except (Exception, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise escaped(error) from error
    finally:
        _set(over)


def _set(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)


async def _stopped(task: asyncio.Future[Any], seconds: float | None) -> None:
    task.cancel()
    task.add_done_callback(is_heard)
    await asyncio.wait({task}, timeout=seconds)


def is_heard(task: asyncio.Future[Any]) -> None:
    """Take note of what a task came to that nobody waits for, so that it is not reported as unheard."""
    _ = task.cancelled() or task.exception()
