"""How a setting is declared: one dataclass field with its default, unit, meaning and bounds.

    poll_interval_seconds: float = setting(5.0, "How often a task is asked for.", unit="seconds", at_least=0.1)

The type says what is read: `Text` and `Secret` keep their references until they are needed; every other value is resolved when
the file is read, but for prompts and descriptions, which are taken word for word.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

from outlast.domain.dataclass import dataclass

T = TypeVar("T")

_SPEC: Final = "outlast.setting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What is known of a setting beside its type and default.

    `when` lists the choices of its section's first field (`provider`, `backend`) under which it is used; empty: always.
    `aliases` are other spellings that are accepted. `is_rest` marks the field that takes the keys no other field has; an
    `is_verbatim` text is taken word for word, whatever looks like a reference in it.
    A run cannot do without a key that `is_needed`, though the document can.
    """

    doc: str
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    when: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    is_rest: bool = False
    is_verbatim: bool = False
    is_required: bool = False
    is_needed: bool = False


@dataclass(frozen=True, slots=True)
class SettingField:
    """One field of a section: its name, resolved type, default maker and spec."""

    name: str
    type: Any
    spec: Spec
    make_default: Callable[[], Any]


def setting(default: T, doc: str, **about: Any) -> T:
    """A field of a section with this default; `about` are the fields of Spec."""
    metadata = {_SPEC: Spec(doc=doc, **about)}
    if isinstance(default, dict):
        made: Any = dataclasses.field(default_factory=lambda: dict(default), metadata=metadata)
    else:
        made = dataclasses.field(default=default, metadata=metadata)
    return cast("T", made)


def required(doc: str, **about: Any) -> Any:
    """A field of a section that must be given."""
    return dataclasses.field(metadata={_SPEC: Spec(doc=doc, is_required=True, **about)})


def fields_of(section: Any) -> tuple[SettingField, ...]:
    """The settings of a section class, in the order they are declared; fields made without `setting` are none."""
    return _fields_of(section)


@functools.cache
def _fields_of(section: type) -> tuple[SettingField, ...]:
    hints = typing.get_type_hints(section)
    return tuple(
        SettingField(made.name, hints[made.name], made.metadata[_SPEC], functools.partial(_default, made))
        for made in dataclasses.fields(section)
        if _SPEC in made.metadata
    )


def chooser_of(section: type) -> SettingField | None:
    """The field whose choice decides which others are used: the section's first one, if any field depends on it."""
    fields = fields_of(section)
    return fields[0] if any(field.spec.when for field in fields) else None


def lacking(section: Any) -> list[SettingField]:
    """The keys of this section that are needed as it is configured, and not given."""
    chooser = chooser_of(type(section))
    choice = getattr(section, chooser.name) if chooser else None
    return [
        made
        for made in fields_of(type(section))
        if made.spec.is_needed and choice in made.spec.when and getattr(section, made.name) is None
    ]


def without_none(hint: Any) -> tuple[Any, bool]:
    """The type with None taken out, and whether it was in."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        rest = [part for part in typing.get_args(hint) if part is not types.NoneType]
        return rest[0], len(rest) < len(typing.get_args(hint))
    return hint, False


def item_type(hint: Any) -> tuple[str, Any]:
    """`("list", item)`, `("map", value)`, `("choice", options)`, `("section", class)` or `("scalar", type)`."""
    origin = typing.get_origin(hint)
    if origin is tuple:
        return "list", typing.get_args(hint)[0]
    if origin is typing.Literal:
        return "choice", typing.get_args(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "map", typing.get_args(hint)[1]
    return ("section", hint) if dataclasses.is_dataclass(hint) else ("scalar", hint)


def placeholder(made: SettingField) -> Any:
    """What stands for a required value that could not be read, so that the rest can be checked."""
    shape, inner = item_type(made.type)
    return empty(inner) if shape == "section" else ""


def empty(section: Any) -> Any:
    """A section with nothing given."""
    return section(**{made.name: placeholder(made) for made in fields_of(section) if made.spec.is_required})


def _default(made: dataclasses.Field[Any]) -> Any:
    if made.default_factory is not dataclasses.MISSING:
        return made.default_factory()
    return None if made.default is dataclasses.MISSING else made.default
