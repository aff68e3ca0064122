"""Using the time in which something is waited for."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


@coroutine
def while_waiting(work: Coroutine[Any, Any, T], meanwhile: Callable[[], None]) -> Generator[Any, Any, T]:
    """What `work` comes to. When it first has to wait, `meanwhile` is called, in the same task and before anything else runs.

    Work that never waits leaves no time for it. Raises what `work` raises, else what `meanwhile` raised, once the work is done.
    """
    trouble: BaseException | None = None
    try:
        awaited = work.send(None)
        try:
            meanwhile()
        except BaseException as error:  # noqa: BLE001 - the work is under way; what became of it has to be heard first
            trouble = error
        while True:
            try:
                sent = yield awaited
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:  # noqa: BLE001 - handed on to the work, as `yield from` would
                awaited = work.throw(error)
            else:
                awaited = work.send(sent)
    except StopIteration as done:
        if trouble is not None:
            raise trouble from None
        result: T = done.value
        return result
