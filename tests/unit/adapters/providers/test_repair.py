"""Heuristic repair refuses what it cannot tell, and never takes a worker down."""

import pytest

from outlast.adapters.providers.repair import repair_json


def test_common_slips_are_put_right() -> None:
    assert repair_json("{'a': [1, 2,], b: True") == {"a": [1, 2], "b": True}


@pytest.mark.parametrize(
    "text", ["", "words", '"text"', '{"a":1}{"b":2}', '{"a" 1}', "[" * 90_000, "[" * 200_000]
)
def test_what_cannot_be_told_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        repair_json(text)
