"""The page of the events of a run: every kind, its fields, its meaning, and the values that stand in the fields."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final, get_args, get_type_hints

from outlast.domain.events import (
    Asking,
    Conversation,
    Lifecycle,
    Planning,
    Recall,
    Shadowing,
    Signal,
    Tooling,
)

_FAMILIES: Final = (Lifecycle, Conversation, Recall, Tooling, Planning, Asking, Shadowing, Signal)

_HEAD: Final = """\
# Events

Made from the code by `just docs`; do not edit.

What happens in a run is an event in its journal, in the past tense, at a position from 1 without gaps. `outlast trace RUN --json`
shows each as one line: `seq` is the position, `kind` the name below, `data` the fields, those at their defaults left out. Fields
named `secret` are never shown. The first six families are written by the worker that holds the run's lease, comparisons of shadow
mode by the worker that made them, signals by whoever may ask something of the run. A kind and its fields stay readable for ever.

A text of more than 8 KiB is stored once under its digest and put back when it is read.
"""


def page() -> str:
    """The page, in Markdown."""
    told: dict[str, type] = {}
    families = [part for family in _FAMILIES for part in _family(family, told)]
    values = [part for name in sorted(told) for part in _told(told[name], told)]
    return "\n".join([_HEAD, *families, "## Values in the fields\n", *values]).rstrip() + "\n"


def _family(family: Any, told: dict[str, type]) -> Iterator[str]:
    kinds = get_args(family) or (family,)
    title = inspect.getdoc(sys.modules[kinds[0].__module__]) or ""
    yield f"## {title.splitlines()[0].rstrip('.')}\n"
    for kind in kinds:
        told.update(_values_below(kind))
        yield from _section(kind)


def _told(value: type, told: dict[str, type]) -> Iterator[str]:
    if issubclass(value, Enum):
        names = ", ".join(f"`{member.value}`" for member in value)
        yield f"### {value.__name__}\n\n{_meaning(value)}\n\nOne of {names}.\n"
    else:
        yield from _section(value)


def _section(kind: type) -> Iterator[str]:
    version = getattr(kind, "VERSION", 1)
    note = f" (version {version} of its fields)" if version > 1 else ""
    yield f"### {kind.__name__}\n\n{_meaning(kind)}{note}\n"
    yield "| field | type | default |\n| --- | --- | --- |"
    for made in dataclasses.fields(kind):
        yield f"| `{made.name}` | `{_escaped(str(made.type))}` | {_default(made)} |"
    yield ""


def _values_below(kind: type) -> dict[str, type]:
    """The dataclasses and enums of our own that stand in the fields of a dataclass, and in theirs."""
    found: dict[str, type] = {}
    waiting = [kind]
    while waiting:
        for hint in get_type_hints(waiting.pop()).values():
            for value in _types_in(hint):
                if value.__name__ not in found:
                    found[value.__name__] = value
                    waiting += [value] if dataclasses.is_dataclass(value) else []
    return found


def _types_in(hint: Any) -> Iterator[type]:
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or issubclass(hint, Enum)):
        yield hint
    for inner in get_args(hint):
        yield from _types_in(inner)


def _meaning(kind: type) -> str:
    """The docstring, its paragraphs kept and its lines joined."""
    paragraphs = (inspect.getdoc(kind) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _default(made: dataclasses.Field[Any]) -> str:
    if made.default_factory is not dataclasses.MISSING:
        return "empty"
    if made.default is dataclasses.MISSING:
        return "required"
    if made.default in ((), ""):
        return "empty"
    return f"`{made.default}`" if made.default is not None else "none"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
