"""A small value that fits a JSON Schema, for purposes this model has no own form for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from outlast.domain.door import Json

_MOST_DEPTH: Final = 24
_UNREADABLE: Final[dict[str, Json]] = {}


def fitting(schema: Mapping[str, Json], text: str) -> Json:
    """The smallest value that fits `schema`, with `text` where a free text is asked for.

    Follows `$ref` inside the schema, `const`, `enum`, `default`, `allOf`, the first of `anyOf` and `oneOf`, and the bounds of
    texts, numbers and lists. `pattern`, `format` and `not` are not followed.
    """
    return _fitting(schema, schema, text, 0)


def _fitting(schema: Json | Mapping[str, Json], root: Mapping[str, Json], text: str, depth: int) -> Json:
    resolved = _resolved(schema, root)
    if depth > _MOST_DEPTH:
        return None
    for name in ("const", "default"):
        if name in resolved:
            return resolved[name]
    choices = resolved.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    for name in ("anyOf", "oneOf"):
        options = resolved.get(name)
        if isinstance(options, list) and options:
            return _fitting(_joined(resolved, options[0], root), root, text, depth + 1)
    return _of_type(resolved, root, text, depth)


def _of_type(schema: Mapping[str, Json], root: Mapping[str, Json], text: str, depth: int) -> Json:
    match _type(schema):
        case "object":
            return _object(schema, root, text, depth)
        case "array":
            count = _integer(schema.get("minItems"), 0)
            return [
                _fitting(schema.get("items", _UNREADABLE), root, text, depth + 1)
                for _ in range(min(count, 1_000))
            ]
        case "string":
            return _text(schema, text)
        case "integer" | "number" as kind:
            return _number(schema, is_integer=kind == "integer")
        case "boolean":
            return False
        case _:
            return None


def _type(schema: Mapping[str, Json]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((item for item in kind if item != "null"), "null")
    if isinstance(kind, str):
        return kind
    for name, implied in (
        ("properties", "object"),
        ("required", "object"),
        ("items", "array"),
        ("minLength", "string"),
    ):
        if name in schema:
            return implied
    return "string"


def _object(schema: Mapping[str, Json], root: Mapping[str, Json], text: str, depth: int) -> dict[str, Json]:
    properties = schema.get("properties")
    required = schema.get("required")
    known = properties if isinstance(properties, dict) else {}
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return {name: _fitting(known.get(name, _UNREADABLE), root, text, depth + 1) for name in names}


def _text(schema: Mapping[str, Json], text: str) -> str:
    least, most = _integer(schema.get("minLength"), 0), _integer(schema.get("maxLength"), 100_000)
    return text[:most].ljust(min(least, 100_000), "-")


def _number(schema: Mapping[str, Json], *, is_integer: bool) -> int | float:
    lowest, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    highest, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    step: float = 1 if is_integer else 0.5
    number: float = 0
    if isinstance(lowest, int | float):
        number = max(number, lowest)
    if isinstance(above, int | float) and number <= above:
        number = above + step
    if isinstance(highest, int | float):
        number = min(number, highest)
    if isinstance(below, int | float) and number >= below:
        number = below - step
    return -int(-number // 1) if is_integer else number


def _integer(value: Json, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise


def _resolved(schema: Json | Mapping[str, Json], root: Mapping[str, Json]) -> dict[str, Json]:
    """`schema` with its reference followed and its `allOf` joined in."""
    current = dict(schema) if isinstance(schema, Mapping) else {}
    for _ in range(_MOST_DEPTH):
        reference = current.pop("$ref", None)
        if not isinstance(reference, str):
            break
        current = {**_at(root, reference), **current}
    parts = current.pop("allOf", None)
    for part in parts if isinstance(parts, list) else []:
        current = _joined(current, part, root)
    return current


def _joined(schema: Mapping[str, Json], part: Json, root: Mapping[str, Json]) -> dict[str, Json]:
    """Both schemas at once: their properties and required names together, else the part's word."""
    own = {name: value for name, value in schema.items() if name not in ("anyOf", "oneOf")}
    added = dict(part) if isinstance(part, dict) else {}
    reference = added.pop("$ref", None)
    if isinstance(reference, str):
        added = {**_at(root, reference), **added}
    result = {**own, **added}
    one, other = own.get("properties"), added.get("properties")
    if isinstance(one, dict) and isinstance(other, dict):
        result["properties"] = {**one, **other}
    names, more = own.get("required"), added.get("required")
    if isinstance(names, list) and isinstance(more, list):
        result["required"] = [*names, *(name for name in more if name not in names)]
    return result


def _at(root: Mapping[str, Json], reference: str) -> dict[str, Json]:
    """The schema a local reference (`#/$defs/name`) points to; an empty one where there is none."""
    value: Json | Mapping[str, Json] = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        value = value.get(name) if isinstance(value, Mapping) else None
    return dict(value) if isinstance(value, Mapping) else {}
