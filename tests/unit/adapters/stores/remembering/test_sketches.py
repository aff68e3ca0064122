"""The nearest vectors by their sketches, with numpy and without."""

import random

import pytest

from outlast.adapters.stores.remembering import sketches
from outlast.adapters.stores.remembering.sketches import Shelf, Shelves, cosines, sketch_of
from outlast.domain.memory import Vector

SKETCH_BYTES = 16
"""How long the sketch of a hundred components is."""


@pytest.fixture(params=["numpy", "by hand"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by hand":
        monkeypatch.setattr(sketches, "_numpy", lambda: None)


def some(count: int, seed: int = 4) -> list[Vector]:
    chance = random.Random(seed)
    return [Vector.of("made", [chance.gauss(0, 1) for _ in range(100)]) for _ in range(count)]


def shelf_of(vectors: list[Vector]) -> Shelf:
    shelf = Shelf(0)
    shelf.add(
        [(place, 1000 + place, sketch_of(vector)) for place, vector in enumerate(vectors, 1)], SKETCH_BYTES
    )
    return shelf


@pytest.mark.usefixtures("_way")
def test_what_is_near_is_among_those_that_sketches_propose() -> None:
    vectors, noise = some(3000), some(20, seed=5)
    shelf = shelf_of(vectors)
    for place, other in enumerate(noise):
        mixed = zip(vectors[place].values(), other.values(), strict=True)
        wanted = sketch_of(Vector.of("made", [own + 0.8 * strange for own, strange in mixed]))
        proposed = shelf.nearest(wanted, 60)
        assert len(set(proposed)) == 60
        assert 1001 + place in proposed


@pytest.mark.usefixtures("_way")
def test_cosines_are_those_of_the_vectors() -> None:
    one, other = Vector.of("made", [3.0, 4.0]), Vector.of("made", [4.0, 3.0])
    damaged, short = (7, one.data + b"\x00"), (8, one.data[:4])
    assert cosines(one, [(1, one.data), damaged, (2, other.data), short]) == pytest.approx({1: 1.0, 2: 0.96})
    assert cosines(one, [damaged]) == cosines(one, []) == {}


@pytest.mark.usefixtures("_way")
def test_a_sketch_of_another_length_is_left_out_and_not_asked_for_again() -> None:
    vectors = some(3)
    shelf = Shelf(0)
    rows = [(place, 1000 + place, sketch_of(vector)) for place, vector in enumerate(vectors, 1)]
    shelf.add([(1, 1001, b"\x00" * 8), *rows[1:], (4, 1004, b"")], SKETCH_BYTES)
    assert (len(shelf), shelf.last) == (2, 4)
    assert sorted(shelf.nearest(sketch_of(vectors[0]), 9)) == [1002, 1003]


@pytest.mark.usefixtures("_way")
def test_a_shelf_grows_after_it_was_asked_and_takes_nothing_twice() -> None:
    vectors = some(30)
    shelf = shelf_of(vectors[:20])
    assert len(shelf.nearest(sketch_of(vectors[0]), 5)) == 5
    rows = [(place, 1000 + place, sketch_of(vector)) for place, vector in enumerate(vectors, 1)]
    shelf.add(rows, SKETCH_BYTES)
    shelf.add(rows, SKETCH_BYTES)
    assert (len(shelf), shelf.last) == (30, 30)
    assert 1030 in shelf.nearest(sketch_of(vectors[29]), 1)
    assert len(shelf.nearest(sketch_of(vectors[0]), 100)) == 30


def test_a_shelf_is_begun_anew_after_a_removal() -> None:
    shelves = Shelves()
    first = shelves.shelf(1, "made/100", 0)
    assert shelves.shelf(1, "made/100", 0) is first
    assert shelves.shelf(1, "other/100", 0) is not first
    assert shelves.shelf(1, "made/100", 1) is not first


def test_shelves_that_are_not_used_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketches, "MAX_SKETCHES", 50)
    shelves = Shelves()
    rows = [(place, place, sketch_of(vector)) for place, vector in enumerate(some(30), 1)]
    first = shelves.shelf(1, "made/100", 0)
    first.add(rows, SKETCH_BYTES)
    shelves.shelf(2, "made/100", 0).add(rows, SKETCH_BYTES)
    assert shelves.shelf(3, "made/100", 0) is not None
    assert shelves.shelf(1, "made/100", 0) is not first
