"""JSON for browsers: their numbers are exact up to 2^53, so longer integers go as the text of their digits.

A page that showed another number than the one a tool is about to be called with would have people agree to something else.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from fastapi.responses import JSONResponse

MOST_EXACT: Final = 2**53
"""Up to this an integer is the same number in a browser."""

_MAY_BE_LONG: Final = re.compile(r"\d{16}")


def exact_json(value: Any) -> str:
    """`value` as JSON, integers beyond MOST_EXACT as texts."""
    text = _written(value)
    return _written(_spelled(value)) if _MAY_BE_LONG.search(text) else text


class ExactJSONResponse(JSONResponse):
    """A response whose long integers are texts."""

    def render(self, content: Any) -> bytes:
        """The body."""
        return exact_json(content).encode("utf-8")


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _spelled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _spelled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled(item) for item in value]
    is_long = isinstance(value, int) and not -MOST_EXACT <= value <= MOST_EXACT
    return str(value) if is_long else value
