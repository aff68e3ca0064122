"""Our `dataclass` gives what that of the standard library gives."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from outlast.domain.dataclass import dataclass

Make = Callable[..., Any]
OPTIONS: list[dict[str, bool]] = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
    {"eq": False},
    {"repr": False},
    {"order": True},
    {"unsafe_hash": True},
]
VALUES = [
    {"name": "a"},
    {"name": "b"},
    {"name": "a", "size": 4},
    {"name": "a", "secret": "x"},
    {"name": "a", "note": "x"},
]


def plain() -> type:
    class Thing:
        """What is tried here."""

        name: str
        size: int = 3
        parts: tuple[int, ...] = ()
        secret: str = field(default="", repr=False)
        note: str = field(default="", compare=False)
        unhashed: dict[str, int] = field(default_factory=dict, hash=False)

    return Thing


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_values_are_shown_compared_and_hashed_as_those_of_the_standard_library(
    options: dict[str, bool],
) -> None:
    ours, theirs = dataclass(plain(), **options), dataclasses.dataclass(plain(), **options)
    assert isinstance(ours, type)
    assert isinstance(theirs, type)
    mine, other = [ours(**given) for given in VALUES], [theirs(**given) for given in VALUES]
    if options.get("repr", True):
        assert [repr(one) for one in mine] == [repr(one) for one in other]
    pairs = [(a, b) for a in range(len(VALUES)) for b in range(len(VALUES))]
    assert [mine[a] == mine[b] for a, b in pairs] == [other[a] == other[b] for a, b in pairs]
    assert (mine[0] == "a") is (other[0] == "a") is False
    if other[0].__hash__ is None:
        assert mine[0].__hash__ is None
    elif options.get("eq", True):
        assert [hash(one) for one in mine] == [hash(one) for one in other]
    assert inspect.signature(ours) == inspect.signature(theirs)
    assert getattr(ours, "__match_args__") == getattr(theirs, "__match_args__")  # noqa: B009 - of no known class
    assert [part.name for part in dataclasses.fields(ours)] == [
        part.name for part in dataclasses.fields(theirs)
    ]
    if options.get("order"):
        assert mine[0] < mine[1]
    if options.get("frozen"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            mine[0].name = "c"


@dataclass(frozen=True, slots=True)
class Nothing:
    """No fields."""


@dataclass(frozen=True, slots=True)
class One(Nothing):
    """A field, and a way to be shown of its own."""

    number: float

    def __repr__(self) -> str:
        return "one"


@dataclass(frozen=True)
class Own:  # noqa: PLW1641 - its dataclass makes it
    """Compared in a way of its own."""

    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own) and self.name.lower() == other.name.lower()


@dataclass(slots=True)
class Open:
    """What holds itself."""

    parts: list[Any]


def test_what_a_class_says_itself_stays() -> None:
    nan = float("nan")
    assert (repr(One(nan)), repr(Nothing())) == ("one", "Nothing()")
    assert One(nan) == One(nan)
    assert One(nan) != One(2.0)
    assert Nothing() == Nothing()
    assert Nothing() != One(2.0)
    assert len({Nothing(), Nothing(), One(1.0), One(1.0)}) == 2
    assert Own("a") == Own("A")
    assert {Own("a")} == {Own("a")}
    around = Open([])
    around.parts.append(around)
    assert repr(around) == "Open(parts=[...])"
    with pytest.raises(TypeError, match="unhashable"):
        hash(around)


def test_values_are_copied_replaced_and_pickled() -> None:
    for one in (One(2.0), Own("a"), Open([One(1.0)])):
        for copied in (
            copy.copy(one),
            copy.deepcopy(one),
            pickle.loads(pickle.dumps(one)),
            dataclasses.replace(one),
        ):
            assert copied == one
            assert type(copied) is type(one)
    assert dataclasses.asdict(Open([One(1.0)])) == {"parts": [{"number": 1.0}]}


def test_few_functions_are_compiled_when_outlast_is_imported() -> None:
    """What the start of every command is made of: 1,911 when the standard library compiled all of them."""
    program = (
        "import builtins\ncount, real = 0, builtins.exec\n"
        "def counted(*given, **named):\n    global count\n    count += isinstance(given[0], str)\n    return real(*given, **named)\n"
        "builtins.exec = counted\nfrom outlast import Harness\nprint(count)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 200 < int(done.stdout) < 1200
