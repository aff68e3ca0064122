"""The part of a document that was written in an overlay, and where."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

from outlast.domain.door import Json
from outlast.wiring.settings.document import Document, KeyPath
from outlast.wiring.settings.spec import fields_of


def written(section: Any, item: dict[str, Json]) -> dict[str, Any]:
    """The values of a section that were read from `item`, under the names of their keys."""
    values: dict[str, Any] = {}
    for made in fields_of(type(section)):
        value = getattr(section, made.name)
        key = next((key for key in (made.name, *made.spec.aliases) if key in item), None)
        if made.spec.is_rest:
            values |= {
                name: written(below, cast("dict[str, Json]", item[name] or {}))
                for name, below in value.items()
            }
        elif key is not None:
            value_below = item[key]
            is_section = isinstance(value_below, dict) and dataclasses.is_dataclass(value)
            values[made.name] = written(value, cast("dict[str, Json]", value_below)) if is_section else value
    return values


def below(document: Document, path: KeyPath, value: Json) -> Document:
    """The part of `document` at `path`, which is `value`, as a document of its own."""
    depth = len(path)
    places = {at[depth:]: place for at, place in document.places.items() if at[:depth] == path}
    return Document(document.name, value, places)
