"""Ages as people write them."""

from datetime import timedelta

import pytest

from outlast.domain.ages import age_in
from outlast.domain.errors import CallerMistake


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("30d", timedelta(days=30)),
        (" 12H ", timedelta(hours=12)),
        ("90m", timedelta(minutes=90)),
        ("2w", timedelta(weeks=2)),
        ("0s", timedelta(0)),
    ],
)
def test_an_age_is_a_number_and_a_unit(text: str, age: timedelta) -> None:
    assert age_in(text) == age


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1.5d", "1 day", "9999999d", "３d"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(CallerMistake) as refused:
        age_in(text)
    assert refused.value.code == "bad_age"
