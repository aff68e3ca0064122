"""How JSON is spelled: letter by letter what the standard library spells, only sooner."""

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from outlast.domain.door import json_writer

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(value=VALUES, sorts_keys=st.booleans(), spaced=st.booleans())
def test_a_writer_spells_what_the_standard_library_does(value: Any, sorts_keys: bool, spaced: bool) -> None:
    separators = None if spaced else (",", ":")
    usual = json.dumps(value, sort_keys=sorts_keys, separators=separators, ensure_ascii=False)
    assert json_writer(sorts_keys=sorts_keys, spaced=spaced)(value) == usual


def test_what_json_does_not_have_is_not_spelled() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_writer()({"x": float("nan")})
