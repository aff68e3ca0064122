"""JSON as it stands in messages: read where it can be read, passed over where not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_LABEL_LINE = re.compile(r"[A-Z][A-Z ]{2,30}:")


def parse_loosely(text: str) -> object:
    """The JSON value of `text`, which may stand under a line with a label; None where there is none."""
    first, _, rest = text.partition("\n")
    try:
        return json.loads(rest if _LABEL_LINE.fullmatch(first.strip()) else text)
    except (ValueError, RecursionError):
        return None


def objects_in(value: object, depth: int = 0) -> Iterator[dict[str, object]]:
    """Every JSON object inside `value`, outer ones first, down to eight levels."""
    if depth > 8:
        return
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from objects_in(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from objects_in(item, depth + 1)


def text_field(entry: dict[str, object], name: str) -> str:
    """The text under `name`, or nothing."""
    value = entry.get(name)
    return value if isinstance(value, str) else ""
