"""How deep JSON nests is told in time linear in its length, whatever a model sends."""

import time

import pytest

from outlast.domain.door import parse_json
from outlast.domain.errors import ModelMistake


def test_g01_13_escaped_quotes_in_a_string_that_never_ends_cost_no_more_than_other_text() -> None:
    started = time.process_time()
    with pytest.raises(ModelMistake):
        parse_json("[" * 200 + '"' + '\\"' * 200_000)
    assert time.process_time() - started < 2
