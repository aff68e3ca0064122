"""Values of any type the domain has, derived from its hints: what hypothesis draws events and states from."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import hypothesis.strategies as st

from outlast.domain.events import KINDS, AnyEvent

IDS = ("main", "s1", "s2", "planner", "c5-0", "c5-1", "m5", "m7", "a1", "q1", "look", "pay", "h:a")
"""Few names, so that events meet: a result its call, an answer its question."""

HOSTILE = (
    "",
    "\x00",
    "$payload",
    "$literally",
    '{"$payload": "0"}',
    "\u2028\ufeff\u202e",
    "é" * 5000,
    "x" * 9000,
    "<<end 0>>",
)
TEXTS = st.one_of(
    st.sampled_from(IDS),
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
KEYS = st.one_of(st.sampled_from(["$payload", "$literally", "what", ""]), TEXTS)
NUMBERS = st.one_of(
    st.integers(-(10**18), 10**18),
    st.integers(10**299, 10**300 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
MOMENTS = st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds are naive by contract

_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: st.integers(0, 50),
    float: st.floats(0, 1e9),
    bool: st.booleans(),
    datetime: MOMENTS,
    Any: JSON,
}


def events() -> st.SearchStrategy[AnyEvent]:
    """Any event."""
    return st.one_of([values_of(kind) for kind in KINDS.values()])


@cache
def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of the type `hint`."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if dataclasses.is_dataclass(hint):
        return _instances(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    return _BY_ORIGIN[get_origin(hint)](get_args(hint))


def _instances(kind: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(kind, localns={"Json": Any})
    return st.builds(kind, **{field.name: values_of(hints[field.name]) for field in dataclasses.fields(kind)})


def _either(parts: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.one_of([st.none() if part is type(None) else values_of(part) for part in parts])


_BY_ORIGIN: dict[Any, Callable[[tuple[Any, ...]], st.SearchStrategy[Any]]] = {
    Literal: st.sampled_from,
    Union: _either,
    types.UnionType: _either,
    tuple: lambda parts: st.lists(values_of(parts[0]), max_size=3).map(tuple),
    frozenset: lambda parts: st.frozensets(values_of(parts[0]), max_size=3),
    dict: lambda parts: st.dictionaries(KEYS, values_of(parts[1]), max_size=3),
}
