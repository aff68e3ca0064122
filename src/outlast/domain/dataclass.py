"""The `dataclass` of the standard library, made in two thirds of the time: at its start outlast makes some three hundred.

The standard library compiles every method of every class. To show, compare and hash values no class needs code of its own: here
that goes by the names of the fields. Nothing else differs, and type checkers see `dataclasses.dataclass` itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        kind: type | None = None,
        /,
        *,
        eq: bool = True,
        repr: bool = True,  # noqa: A002 - as there
        order: bool = False,
        **options: Any,
    ) -> Any:
        """As `dataclasses.dataclass`."""
        if order or options.get("unsafe_hash"):
            return dataclasses.dataclass(kind, eq=eq, repr=repr, order=order, **options)
        make = dataclasses.dataclass(eq=False, repr=False, **options)

        def made(plain: type) -> type:
            own = {*vars(plain)}
            done = make(plain)
            if repr and "__repr__" not in own:
                done.__repr__ = _shown
            if eq:
                _compare(done, own, is_frozen=options.get("frozen", False))
            return done

        return made if kind is None else made(kind)


def _compare(kind: Any, own: set[str], *, is_frozen: bool) -> None:
    """Let instances be compared and, where they are frozen, hashed by their fields; what the class says itself stays."""
    parts = dataclasses.fields(kind)
    compared = _values([part.name for part in parts if part.compare])
    hashed = _values([part.name for part in parts if (part.compare if part.hash is None else part.hash)])

    def is_equal(self: Any, other: Any) -> Any:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_of(self: Any) -> int:
        return hash(hashed(self))

    if "__eq__" not in own:
        kind.__eq__ = is_equal
    if "__hash__" not in own or kind.__dict__["__hash__"] is None:
        kind.__hash__ = hash_of if is_frozen else None


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the values of these fields of an instance."""
    if not names:
        return lambda _: ()
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda value: (get(value),)


@recursive_repr()
def _shown(self: Any) -> str:
    shown = ", ".join(
        [f"{part.name}={getattr(self, part.name)!r}" for part in dataclasses.fields(self) if part.repr]
    )
    return f"{type(self).__qualname__}({shown})"
