"""Using the time in which something is waited for."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

from outlast.domain.under_way import rest_of

T = TypeVar("T")


@coroutine
def while_waiting(work: Coroutine[Any, Any, T], meanwhile: Callable[[], None]) -> Generator[Any, Any, T]:
    """What `work` comes to. When it first has to wait, `meanwhile` is called, in the same task and before anything else runs.

    Work that never waits leaves no time for it. Raises what `work` raises, else what `meanwhile` raised, once the work is done.
    """
    try:
        awaited = work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    trouble: BaseException | None = None
    try:
        meanwhile()
    except BaseException as error:  # noqa: BLE001 - the work is under way; what became of it has to be heard first
        trouble = error
    came = yield from rest_of(work, awaited)
    if trouble is not None:
        raise trouble from None
    return came
