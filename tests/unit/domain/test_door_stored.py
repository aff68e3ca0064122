"""The short way into the journal gives what the long one gives, and refuses nothing that it would take."""

import math
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from outlast.domain.door import MAX_DEPTH, MAX_INTEGER_DIGITS, _stored, stored_form
from outlast.domain.errors import ModelMistake

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(codec=None), max_size=5),
    st.binary(max_size=2),
    st.just(10**MAX_INTEGER_DIGITS),
    st.just((1, 2)),
)
KEYS = st.one_of(st.text(st.characters(codec=None), max_size=5), st.integers())
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)


def of(store: Any, *given: Any) -> Any:
    """What a value is stored as, with its type at every place; or why it is refused."""
    try:
        return repr(store(*given))
    except ModelMistake as mistake:
        return mistake.detail


@given(VALUES)
def test_both_ways_store_the_same_and_refuse_with_the_same_words(value: Any) -> None:
    assert of(stored_form, value) == of(_stored, value, "$", 0)


@pytest.mark.parametrize("depth", [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, MAX_DEPTH + 2])
def test_they_agree_on_how_deep_is_too_deep(depth: int) -> None:
    for leaf in (1, "a", []):
        value: Any = leaf
        for level in range(depth):
            value = [value] if level % 2 else {"k": value}
        assert of(stored_form, value) == of(_stored, value, "$", 0)


def test_what_is_stored_shares_nothing_with_what_came() -> None:
    inner: dict[str, Any] = {"a": [1, 2.5, math.pi, True, None, "x\ud800"]}
    stored: Any = stored_form({"k": inner})
    inner["a"].append("more")
    assert stored == {"k": {"a": [1, 2.5, math.pi, True, None, "x\ufffd"]}}
