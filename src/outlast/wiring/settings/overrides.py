"""Values that are set over a document: `--set key=value` and the `config` of a request, with the checks of the document itself."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.errors import CallerMistake
from outlast.wiring.settings.document import Document, KeyPath, parse
from outlast.wiring.settings.problem import Place, Problem, mistake_of


@dataclass(frozen=True, slots=True)
class Override:
    """One value at one path, and where it was written. The path of a task's key begins with `task`."""

    path: KeyPath
    value: Json = field(repr=False)
    place: Place


def from_options(options: Iterable[str], name: str = "--set") -> list[Override]:
    """The overrides in options of the form `key=value`: a dotted path, and the value as YAML.

    Raises CallerMistake (`invalid_override`, `invalid_yaml`) for an option of another form.
    """
    return [_from_option(option, Place(name)) for option in options]


def from_mapping(values: Mapping[str, Json], name: str = "config") -> list[Override]:
    """The overrides in a mapping, one for each leaf: nested, such as `{"harness": {"retry": {"max_attempts": 1}}}`, or by dotted
    paths, such as `{"harness.retry.max_attempts": 1}`."""
    return [Override(path, value, Place(name)) for path, value in _leaves(values, ())]


def applied(document: Document, overrides: Iterable[Override]) -> Document:
    """The document with each value set over what stands at its path. Raises CallerMistake (`invalid_override`)."""
    value = copy.deepcopy(document.value)
    if not isinstance(value, dict):
        return document
    places = dict(document.places)
    for override in overrides:
        _set(value, override)
        places = {at: place for at, place in places.items() if at[: len(override.path)] != override.path}
        for depth in range(1, len(override.path)):
            places.setdefault(override.path[:depth], override.place)
        places[override.path] = override.place
    return Document(document.name, value, places)


def _from_option(option: str, place: Place) -> Override:
    key, equals, text = option.partition("=")
    path = tuple(part.strip() for part in key.split("."))
    if not equals or not all(path):
        raise CallerMistake(
            "invalid_override",
            f"{place} takes key=value with a dotted key, such as harness.max_concurrent_tools=5 or task.max_steps=10.",
            "Write the option like that.",
        )
    return Override(path, parse(text, f"{place} {key.strip()}", place).value, place)


def _leaves(values: Mapping[str, Json], path: KeyPath) -> Iterator[tuple[KeyPath, Json]]:
    for key, value in values.items():
        at = (*path, *key.split("."))
        if isinstance(value, dict) and value:
            yield from _leaves(value, at)
        else:
            yield at, value


def _set(value: dict[str, Any], override: Override) -> None:
    *parents, last = override.path
    for depth, key in enumerate(parents):
        below = value.setdefault(key, {})
        if below is None:
            below = value[key] = {}
        if not isinstance(below, dict):
            dotted = ".".join(override.path)
            detail = f"{'.'.join(parents[: depth + 1])} holds a value, so nothing can be set below it"
            problem = Problem(override.place, dotted, detail, "invalid_override")
            raise mistake_of([problem], "Set the whole value instead.")
        value = below
    value[last] = override.value
