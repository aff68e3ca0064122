"""Work that was begun by hand and goes on in the task that began it."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


@coroutine
def rest_of(work: Coroutine[Any, Any, T], awaited: object) -> Generator[Any, Any, T]:
    """What `work` comes to, whose first `send(None)` gave `awaited`: what it waits for.

    So that whoever began it can do something first where it has to wait, and nothing where it does not.
    """
    try:
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
        result: T = done.value
        return result
