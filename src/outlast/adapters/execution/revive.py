"""JSON values into what type hints promise, and what tools return back into JSON."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from enum import Enum
from pathlib import PurePath
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from outlast.adapters.execution.schema_from_hints import hints_of
from outlast.domain.door import Json

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""What is the same in JSON and in Python."""


def revivable(function: Callable[..., Any]) -> dict[str, Any]:
    """The hints of a function's parameters that promise more than JSON holds."""
    hints = hints_of(function).items()
    return {name: hint for name, hint in hints if name != "return" and not _is_plain(hint)}


def revive_arguments(hints: Mapping[str, Any], arguments: Mapping[str, Json]) -> dict[str, Any]:
    """Valid `arguments` as the `revivable` hints of a function promise them, with Enum members and dataclasses."""
    named = dict(arguments)
    for name, hint in hints.items():
        if name in named:
            named[name] = revive(named[name], hint)
    return named


def revive(value: Any, hint: Any) -> Any:
    """`value`, already valid for the schema of `hint`, as an instance of `hint`."""
    if _is_plain(hint):
        return value
    origin, members = get_origin(hint), get_args(hint)
    if origin in (Annotated, typing.Required, typing.NotRequired):
        return revive(value, members[0])
    if origin in (Union, UnionType):
        return _first_that_fits(value, members)
    if isinstance(value, list) and origin in (list, Sequence):
        return [revive(item, members[0]) for item in value]
    if isinstance(value, dict) and origin in (dict, Mapping):
        return {key: revive(item, members[1]) for key, item in value.items()}
    return _class_instance(value, hint) if isinstance(hint, type) else value


def plain_json(value: Any) -> Any:
    """What a tool returned, with dataclasses, Enums, tuples, sets, paths and dates turned into plain JSON.

    Anything else is left as it is, for the door to refuse by name.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return plain_json(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: plain_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_json(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain_json(item) for item in value), key=str)
    if isinstance(value, PurePath):
        return str(value)
    return value.isoformat() if isinstance(value, date) else value


def _is_plain(hint: Any) -> bool:
    return hint is Any or (isinstance(hint, type) and hint in _PLAIN)


def _class_instance(value: Any, hint: Callable[..., Any]) -> Any:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if typing.is_typeddict(hint) and isinstance(value, dict):
        return _fields(value, hint)
    is_record = dataclasses.is_dataclass(hint) and isinstance(value, dict)
    return hint(**_fields(value, hint)) if is_record else value


def _fields(value: dict[str, Any], hint: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(hint, include_extras=True)
    return {name: revive(item, hints.get(name, Any)) for name, item in value.items()}


def _first_that_fits(value: Any, members: tuple[Any, ...]) -> Any:
    """The value as the first member that changes it; a union of plain types changes nothing."""
    for member in members:
        try:
            made = revive(value, member)
        except (TypeError, ValueError, KeyError):
            continue
        if made is not value and made != value:
            return made
    return value
