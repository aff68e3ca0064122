"""Input schemas of other people's tools, made into what providers accept and the engine can check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from outlast.domain.door import Json, canonical_json, stored_form
from outlast.domain.errors import ModelMistake

MOST_SCHEMA_BYTES: Final = 256 * 1024
"""The largest schema that is offered to a model."""

_NOTHING: Final = ("null",)
"""Types by which servers say that a tool takes no arguments."""


def argument_schema(sent: object) -> dict[str, Json]:
    """The schema of the arguments, an object with `properties`, everything else in it kept as it was sent.

    Nothing, `{}`, `true` and `{"type": "null"}` stand for a tool without arguments. Raises ValueError that says why there is no
    making sense of it.
    """
    if sent is None or sent is True:
        return {"type": "object", "properties": {}}
    if not isinstance(sent, Mapping):
        raise ValueError("its input schema is no object")
    schema = dict(_stored(sent))
    schema.pop("$schema", None)
    kinds = _kinds(schema)
    if kinds == _NOTHING:
        return {"type": "object", "properties": {}}
    if kinds and "object" not in kinds:
        raise ValueError(f"its input schema wants {' or '.join(kinds)}, and arguments are an object")
    if not isinstance(schema.get("properties", {}), dict):
        raise ValueError("the properties of its input schema are no object")
    if not isinstance(schema.get("required", []), list):
        del schema["required"]
    return {**schema, "type": "object", "properties": schema.get("properties", {})}


def result_schema(sent: object) -> dict[str, Json] | None:
    """The schema of structured results; None where there is none that can be used."""
    if not isinstance(sent, Mapping) or not sent:
        return None
    try:
        return _stored(sent)
    except ValueError:
        return None


def _stored(schema: Mapping[Any, Any]) -> dict[str, Json]:
    try:
        stored = stored_form(dict(schema))
    except ModelMistake as mistake:
        raise ValueError(f"its schema cannot be kept: {mistake.detail}") from mistake
    if len(canonical_json(stored)) > MOST_SCHEMA_BYTES:
        raise ValueError(f"its schema is larger than {MOST_SCHEMA_BYTES} bytes")
    assert isinstance(stored, dict)
    return stored


def _kinds(schema: Mapping[str, Json]) -> tuple[str, ...]:
    kinds = schema.get("type", ())
    named = [kinds] if isinstance(kinds, str) else kinds
    return tuple(kind for kind in named if isinstance(kind, str)) if isinstance(named, list) else ()
