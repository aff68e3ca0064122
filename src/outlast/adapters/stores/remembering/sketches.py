"""The nearest of many vectors by sketches: the signs of their components, one bit each.

A sketch takes a thirty-second of its vector, so those of a hundred thousand entries fit into 5 MB and are compared in a few
milliseconds, with numpy or without. The many it calls near are then compared by their whole vectors.
"""

from __future__ import annotations

import heapq
import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from operator import mul
from typing import Any, Final

from outlast.domain.memory import Vector

MAX_SKETCHES: Final = 2_000_000
"""How many sketches a process keeps, of whichever users it last recalled for; about 120 MB."""


def sketch_of(vector: Vector) -> bytes:
    """The signs of the components, in whole words of 64 bits."""
    bits = 0
    for place, value in enumerate(vector.values()):
        if value > 0:
            bits |= 1 << place
    return bits.to_bytes((vector.dimensions + 63) // 64 * 8, "little")


def cosines(one: Vector, others: Sequence[tuple[int, bytes]]) -> dict[int, float]:
    """How near numbered vectors of length one are to `one`, from -1 to 1; those of other dimensions are left out."""
    whole = {number: data for number, data in others if len(data) == len(one.data)}
    numpy = _numpy()
    if numpy is None or not whole:
        wanted = one.values()
        return {number: sum(map(mul, wanted, array("f", data))) for number, data in whole.items()}
    rows = numpy.frombuffer(b"".join(whole.values()), dtype="<f4").reshape(len(whole), -1)
    near: list[float] = (rows @ numpy.frombuffer(one.data, dtype="<f4")).tolist()
    return dict(zip(whole, near, strict=True))


class Shelf:
    """The sketches of one user in one space, as far as they were read: up to number `last`, with `removals` counted before."""

    def __init__(self, removals: int) -> None:
        self.removals = removals
        self.last = 0
        self._numbers = array("q")
        self._bits = bytearray()

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, rows: Sequence[tuple[int, int, bytes]], size_bytes: int) -> None:
        """Take in (number of the sketch, number of the entry, sketch), in order; those that are there already are left out, and those
        that are not `size_bytes` long."""
        for last, number, sketch in rows:
            if last > self.last:
                self.last = last
                if len(sketch) == size_bytes:
                    self._numbers.append(number)
                    self._bits += sketch

    def nearest(self, sketch: bytes, count: int) -> list[int]:
        """The numbers of the `count` entries whose sketches differ least, in no order. An entry may be named twice."""
        if count >= len(self._numbers):
            return list(self._numbers)
        numpy = _numpy()
        if numpy is None:
            return self._nearest_by_hand(sketch, count)
        rows = numpy.frombuffer(self._bits, dtype="<u8").reshape(len(self._numbers), -1)
        differing = numpy.bitwise_count(rows ^ numpy.frombuffer(sketch, dtype="<u8")).sum(axis=1, dtype="u4")
        chosen = numpy.argpartition(differing, count - 1)[:count]
        numbers = numpy.frombuffer(self._numbers, dtype="i8")[chosen].tolist()
        del rows  # or the buffers could not grow
        return list(numbers)

    def _nearest_by_hand(self, sketch: bytes, count: int) -> list[int]:
        size, wanted = len(sketch), int.from_bytes(sketch, "little")
        view = memoryview(self._bits)
        differing = (
            ((int.from_bytes(view[at : at + size], "little") ^ wanted).bit_count(), number)
            for at, number in zip(range(0, len(view), size), self._numbers, strict=True)
        )
        return [number for _, number in heapq.nsmallest(count, differing)]


class Shelves:
    """The shelves of a process, the longest unused dropped when there are more than MAX_SKETCHES together."""

    def __init__(self) -> None:
        self._shelves: OrderedDict[tuple[int, str], Shelf] = OrderedDict()
        self.lock = threading.RLock()

    def shelf(self, user_no: int, space: str, removals: int) -> Shelf:
        """The shelf to bring up to date; an empty one where entries were removed since it was filled."""
        with self.lock:
            shelf = self._shelves.pop((user_no, space), None)
            if shelf is None or shelf.removals != removals:
                shelf = Shelf(removals)
            self._shelves[user_no, space] = shelf
            while len(self._shelves) > 1 and sum(map(len, self._shelves.values())) > MAX_SKETCHES:
                self._shelves.popitem(last=False)
            return shelf

    def drop_all(self) -> None:
        """Forget everything, after entries were removed."""
        with self.lock:
            self._shelves.clear()


@cache
def _numpy() -> Any:
    try:
        import numpy as np
    except ModuleNotFoundError:
        return None
    return np if hasattr(np, "bitwise_count") else None
