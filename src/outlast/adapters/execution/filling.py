"""Arguments completed from the schema before they are checked: defaults, and JSON sent inside a string."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from outlast.domain.dataclass import dataclass
from outlast.domain.door import parse_json
from outlast.domain.errors import ModelMistake

ANY_TYPE = frozenset({"string", "number", "integer", "boolean", "null", "array", "object"})
_CONTAINERS = {"array": list, "object": dict}


@dataclass(slots=True)
class Shape:
    """What there is to complete in a value. `decodes` are the container types a string may hold instead."""

    decodes: tuple[type, ...] = ()
    defaults: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Shape] = field(default_factory=dict)
    items: Shape | None = None
    others: Shape | None = None
    is_needed: bool = False


def shape_of(schema: Any, root: Mapping[str, Any]) -> Shape | None:
    """The Shape of arrays and objects of `schema`, or None where there is nothing to complete in one.

    Follows `$ref` within `root`.
    """
    shape = _shape(schema, root, {})
    return shape if _has_parts(shape) else None


def completed(value: Any, shape: Shape | None) -> Any:
    """A copy of `value` with defaults filled in, and strings decoded that hold the array or object wanted.

    Where there is nothing to complete it is `value` itself. A string is decoded only where the schema takes an array
    or object and no string, and only if it parses to exactly that.
    """
    if shape is None:
        return value
    if type(value) is str:
        value = _decoded(value, shape)
    if type(value) is dict:
        return _completed_object(value, shape)
    if type(value) is list and shape.items is not None:
        return [completed(item, shape.items) for item in value]
    return value


def resolve(schema: Any, root: Mapping[str, Any]) -> Any:
    """`schema` with a `$ref` of the form `#/...` followed once; an unknown one leads to an empty schema."""
    reference = schema.get("$ref") if isinstance(schema, Mapping) else None
    if not isinstance(reference, str) or not reference.startswith("#"):
        return schema
    found: Any = root
    for part in reference[1:].strip("/").split("/") if reference != "#" else ():
        key = part.replace("~1", "/").replace("~0", "~")
        found = found.get(key, {}) if isinstance(found, Mapping) else {}
    return found


def accepted_types(schema: Any, root: Mapping[str, Any], depth: int = 0) -> frozenset[str]:
    """The JSON types `schema` lets through, by its `type`, `enum`, `const`, `anyOf` and `oneOf`."""
    schema = resolve(schema, root)
    if not isinstance(schema, Mapping) or depth > 20:
        return ANY_TYPE
    kinds = schema.get("type")
    if kinds is not None:
        return frozenset([kinds] if isinstance(kinds, str) else kinds)
    if "enum" in schema or "const" in schema:
        return frozenset(json_type(value) for value in schema.get("enum", [schema.get("const")]))
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return frozenset().union(*(accepted_types(branch, root, depth + 1) for branch in branches))
    return ANY_TYPE


def json_type(value: Any) -> str:
    """The JSON type of a value, `integer` told apart from `number`."""
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _shape(schema: Any, root: Mapping[str, Any], seen: dict[int, Shape]) -> Shape:
    schema = resolve(schema, root)
    if not isinstance(schema, Mapping):
        return Shape()
    if id(schema) in seen:
        return seen[id(schema)]
    # A shape still being made counts as needed: a schema that refers to itself must not lose its inner part.
    shape = seen[id(schema)] = Shape(is_needed=True)
    kinds = accepted_types(schema, root)
    if "string" not in kinds:
        shape.decodes = tuple(made for name, made in _CONTAINERS.items() if name in kinds)
    _add_fields(shape, schema, root, seen)
    for part in (*schema.get("allOf", ()), *_only_branch(schema, root)):
        _merge(shape, _shape(part, root, seen))
    shape.is_needed = bool(shape.decodes) or _has_parts(shape)
    return shape


def _has_parts(shape: Shape) -> bool:
    return bool(shape.defaults or shape.fields or shape.items or shape.others)


def _add_fields(
    shape: Shape, schema: Mapping[str, Any], root: Mapping[str, Any], seen: dict[int, Shape]
) -> None:
    for name, part in schema.get("properties", {}).items():
        target = resolve(part, root)
        for place in (part, target):
            if isinstance(place, Mapping) and "default" in place:
                shape.defaults.setdefault(name, place["default"])
        inner = _shape(part, root, seen)
        if inner.is_needed:
            shape.fields[name] = inner
    for key in ("items", "additionalProperties"):
        inner = _shape(schema.get(key), root, seen)
        if inner.is_needed:
            setattr(shape, "items" if key == "items" else "others", inner)


def _only_branch(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Any]:
    """The one branch of a union that can be a container; with several, nothing is guessed."""
    branches = schema.get("anyOf") or schema.get("oneOf") or ()
    containers = [one for one in branches if accepted_types(one, root) & {"array", "object"}]
    return containers if len(containers) == 1 else []


def _merge(shape: Shape, other: Shape) -> None:
    shape.defaults = {**other.defaults, **shape.defaults}
    shape.fields = {**other.fields, **shape.fields}
    shape.items = shape.items or other.items
    shape.others = shape.others or other.others


def _completed_object(value: dict[str, Any], shape: Shape) -> dict[str, Any]:
    made = dict(value)
    for name, default in shape.defaults.items():
        if name not in made:
            made[name] = copy.deepcopy(default) if isinstance(default, (list, dict)) else default
    for name, inner in shape.fields.items():
        if name in made:
            made[name] = completed(made[name], inner)
    if shape.others is not None:
        for name in made.keys() - shape.fields.keys():
            made[name] = completed(made[name], shape.others)
    return made


def _decoded(text: str, shape: Shape) -> Any:
    if not shape.decodes or text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        value = parse_json(text)
    except ModelMistake:
        return text
    return value if isinstance(value, shape.decodes) else text
