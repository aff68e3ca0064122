"""Ages as people write them: 30d, 12h, 90m, 2w."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from outlast.domain.errors import CallerMistake

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LONGEST: Final = timedelta(days=36_500)
_AGE: Final = re.compile(r"([0-9]{1,6})([smhdw])")


def age_in(text: str) -> timedelta:
    """The span of time that `text` says, a hundred years at most. Raises CallerMistake (`bad_age`)."""
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise CallerMistake(
            "bad_age",
            f"{text[:40]!r} is not an age.",
            "Write a whole number and a unit: 30d, 12h, 90m, 2w or 45s.",
        )
    return min(timedelta(**{_UNITS[found[2]]: int(found[1])}), _LONGEST)
