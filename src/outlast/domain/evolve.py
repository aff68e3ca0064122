"""A changed copy of an immutable value, at the price of copying one dictionary.

States are copied at every event; dataclasses.replace walks all fields in Python each time, which costs ten times as much.
"""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")

Changes = dict[str, Any]
"""Fields of a value, by name, and what they become."""


class _Open:
    """What a copy is until it has its fields: frozen classes refuse them, and take long to be made empty."""


def evolve(value: T, /, **changes: Any) -> T:
    """A copy of `value`, a frozen dataclass without slots, with some fields changed.

    Raises TypeError for a field it does not have.
    """
    return changed(value, changes)


def changed(value: T, changes: Changes) -> T:
    """A copy of `value` as `evolve` makes it, by changes that are there already."""
    fields: dict[str, Any] = value.__dict__
    after = fields | changes
    if len(after) != len(fields):
        raise TypeError(f"{type(value).__name__} has no field {sorted(changes.keys() - fields.keys())}")
    copy: Any = _Open()
    copy.__dict__ = after
    copy.__class__ = type(value)
    evolved: T = copy
    return evolved


def without(values: dict[str, T], name: str) -> dict[str, T]:
    """A copy of `values` that does not have `name`, whether they have it or not."""
    rest = values.copy()
    rest.pop(name, None)
    return rest
