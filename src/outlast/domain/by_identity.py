"""What is made of a value, kept as long as the value is asked for again: for values that are never changed and cannot be hashed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

V = TypeVar("V")
R = TypeVar("R")


def by_identity(make: Callable[[V], R], most: int) -> Callable[[V], R]:
    """`make`, called once for each of the last `most` values at least. Two equal values are two.

    Both value and result are held until more have come. `make` may be called twice where threads ask at once.
    """
    newer: dict[int, tuple[V, R]] = {}
    older: dict[int, tuple[V, R]] = {}

    def made(value: V) -> R:
        nonlocal newer, older
        known = newer.get(id(value))
        if known is not None:
            return known[1]
        known = older.get(id(value)) or (value, make(value))
        if len(newer) >= most:
            newer, older = {}, newer
        newer[id(value)] = known
        return known[1]

    return made
