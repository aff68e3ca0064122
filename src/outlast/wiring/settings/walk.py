"""Walks the settings tree: as plain values again (for people, secrets masked), text by text, or with texts exchanged."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from outlast.domain.door import Json
from outlast.wiring.settings.parts import Overlay
from outlast.wiring.settings.spec import chooser_of, fields_of
from outlast.wiring.settings.text import Secret, Text


def masked(section: Any) -> dict[str, Json]:
    """A section, or all settings, as a document people may see: every key with its value, secrets as `***` or `${NAME}`.

    Such a document can be loaded again; a `***` in it is refused there, so that it never takes the place of a secret.
    """
    return dumped(section, lambda text: text.shown())


def dumped(section: Any, show: Callable[[Text], Json]) -> dict[str, Json]:
    """A section as plain values, each text as `show` gives it."""
    values: dict[str, Json] = {}
    for made in fields_of(type(section)):
        value = _plain(getattr(section, made.name), show)
        if made.spec.is_rest:
            values |= cast("dict[str, Json]", value)
        else:
            values[made.name] = value
    return values


def texts_of(section: Any) -> Iterator[Text]:
    """Every text of a section that is used as it is configured, sections below included."""
    chooser = chooser_of(type(section))
    choice = getattr(section, chooser.name) if chooser else None
    for made in fields_of(type(section)):
        if not made.spec.when or choice is None or choice in made.spec.when:
            yield from _texts(getattr(section, made.name))


def exchanged(value: Any, change: Callable[[Text], Text]) -> Any:
    """A section (or any value in one) with each text exchanged for what `change` makes of it."""
    if isinstance(value, Text):
        return change(value)
    if isinstance(value, Overlay):
        return Overlay(exchanged(value.values, change))
    if isinstance(value, Mapping):
        return {key: exchanged(item, change) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(exchanged(item, change) for item in value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    made = {one.name: exchanged(getattr(value, one.name), change) for one in fields_of(type(value))}
    return dataclasses.replace(value, **made)


def secrets_by_key(section: Any) -> dict[str, Secret]:
    """Every secret of a section, whether it is used as configured or not, by the dotted path it was read from."""
    found: dict[str, Secret] = {}

    def note(text: Text) -> Text:
        if isinstance(text, Secret):
            found[text.key] = text
        return text

    exchanged(section, note)
    return found


def _texts(value: Any) -> Iterator[Text]:
    if isinstance(value, Text):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, Overlay):
        yield from texts_of(value)


def _plain(value: Any, show: Callable[[Text], Json]) -> Json:
    if isinstance(value, Text):
        return show(value)
    if isinstance(value, Overlay):
        value = value.values
    if isinstance(value, Mapping):
        return {key: _plain(item, show) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item, show) for item in value]
    if dataclasses.is_dataclass(value):
        return dumped(value, show)
    return cast("Json", value)
