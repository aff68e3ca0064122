"""What a schema expects, in words a model can act on, and an example that satisfies it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from outlast.adapters.execution.filling import resolve

_WORDS: Final = {
    "string": "a text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "an array",
    "object": "an object",
}
BOUNDS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters long",
    "maxLength": "at most {} characters long",
    "minItems": "with at least {} items",
    "maxItems": "with at most {} items",
    "pattern": "matching {}",
    "format": "in the format {}",
}
_EXAMPLE_TEXTS: Final = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "uri": "https://example.org/",
    "email": "someone@example.org",
}
_MOST_SHOWN: Final = 80
_MOST_DEPTH: Final = 8


def in_words(schema: Any, root: Mapping[str, Any], depth: int = 0) -> str:
    """What `schema` lets through, as in `an integer at least 1, at most 20` or `one of "a", "b"`."""
    schema = resolve(schema, root)
    if not isinstance(schema, Mapping) or depth > _MOST_DEPTH:
        return "a value"
    if "const" in schema:
        return shown(schema["const"])
    if "enum" in schema:
        return "one of " + ", ".join(shown(value) for value in schema["enum"][:20])
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return " or ".join(dict.fromkeys(in_words(branch, root, depth + 1) for branch in branches))
    kinds = schema.get("type", ())
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    words = " or ".join(_WORDS.get(name, str(name)) for name in names) or "a value"
    bounds = [phrase.format(schema[key]) for key, phrase in BOUNDS.items() if key in schema]
    return f"{words} {', '.join(bounds)}" if bounds else words


def shown(value: Any) -> str:
    """A JSON value in few characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}… ({len(text)} characters)"


def example_of(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    """A value made from `schema`: its example or default if there is one, else the smallest of its type."""
    schema = resolve(schema, root)
    if not isinstance(schema, Mapping) or depth > _MOST_DEPTH:
        return None
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), Sequence) and schema[key]:
            return schema[key][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return example_of({**schema[key][0], **_without(schema, key)}, root, depth + 1)
    return _smallest(schema, root, depth)


def _without(schema: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != key}


def _smallest(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    match kinds if isinstance(kinds, str) else kinds[0]:
        case "object":
            named = schema.get("properties", {})
            needed = schema.get("required", ())
            return {name: example_of(named.get(name, {}), root, depth + 1) for name in needed}
        case "array":
            count = max(schema.get("minItems", 1), 1) if depth < _MOST_DEPTH else 0
            return [example_of(schema.get("items", {}), root, depth + 1) for _ in range(min(count, 20))]
        case "integer" | "number":
            return _smallest_number(schema)
        case "boolean":
            return True
        case "null":
            return None
    return _smallest_text(schema)


def _smallest_number(schema: Mapping[str, Any]) -> Any:
    low = schema.get("minimum", schema.get("exclusiveMinimum", min(1, schema.get("maximum", 1))))
    step = schema.get("multipleOf", 1)
    number = low + step if low == schema.get("exclusiveMinimum") else low
    return number if "multipleOf" not in schema else -(-number // step) * step


def _smallest_text(schema: Mapping[str, Any]) -> str:
    text: str = _EXAMPLE_TEXTS.get(schema.get("format", ""), "text")
    text = text.ljust(schema.get("minLength", 0), "…")
    most: int | None = schema.get("maxLength")
    return text[:most]
