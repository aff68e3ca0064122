"""Frozen dataclasses that are made as quickly as open ones.

A frozen dataclass sets each field of a new instance through `object.__setattr__`, since its own refuses; an event of fifteen fields
takes five times as long to make as an open one would. Here a new instance is an open twin of its class until its fields are set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from types import MethodType
from typing import Any, Final, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

_OPEN: Final[dict[str, Any]] = {
    "__slots__": (),
    "__new__": object.__new__,
    "__init__": object.__init__,
    "__setattr__": object.__setattr__,
    "__delattr__": object.__delattr__,
}


def quick(kind: type[T]) -> type[T]:
    """The frozen dataclass with slots `kind`, made more quickly; nothing else of it changes. For what is made at every step.

    Raises TypeError for one with fields that are no parameters, or with a `__post_init__`.
    """
    parts: tuple[Field[Any], ...] = fields(kind)  # type: ignore[arg-type]
    if hasattr(kind, "__post_init__") or not all(part.init for part in parts):
        raise TypeError(f"{kind.__name__} does more than set its fields when it is made")
    names: dict[str, Any] = {"_twin": type(kind.__name__, (kind,), dict(_OPEN))}
    lines = [f"def __new__(_kind, {', '.join(_parameters(parts, names))}):", " self = _twin()"]
    lines += [f" self.{part.name} = {_value(part)}" for part in parts]
    lines += [" self.__class__ = _kind", " return self"]
    exec("\n".join(lines), names)  # noqa: S102 - as dataclasses, of nothing but the names of fields
    make = names["__new__"]
    make.__annotations__, make.__qualname__ = kind.__init__.__annotations__, f"{kind.__qualname__}.__new__"
    kind.__new__ = make  # type: ignore[method-assign]
    kind.__getnewargs_ex__ = _named  # type: ignore[attr-defined]
    kind.__init__ = object.__init__  # type: ignore[method-assign]  # a base may have one
    _let_be_derived(kind, [part.name for part in parts])
    return kind


def _let_be_derived(kind: Any, names: list[str]) -> None:
    """Let instances of a class of somebody's own that is derived from a quick one be made in the usual way."""

    def made(derived: Any, /, *given: Any, **named: Any) -> Any:
        self = object.__new__(derived)
        if derived.__init__ is object.__init__:
            fields_of_kind = kind(*given, **named)
            for name in names:
                object.__setattr__(self, name, getattr(fields_of_kind, name))
        return self

    def of_derived(derived: Any, /, **named: Any) -> None:
        super(kind, derived).__init_subclass__(**named)
        if "__new__" not in derived.__dict__:
            derived.__new__ = made

    kind.__init_subclass__ = classmethod(of_derived)


def maker_of(kind: Callable[P, T]) -> Callable[P, T]:
    """What makes instances of a quick class as the class itself does; where many arguments are named, at half its price.

    A class that is called makes a dictionary of the named ones, and takes it apart again; a function is given them as they are.
    """
    called: Any = kind
    make: Callable[P, T] = MethodType(called.__new__, called)
    return make


def is_quick(kind: type[Any]) -> bool:
    """Is this a class made by `quick`?"""
    return kind.__dict__.get("__getnewargs_ex__") is _named


def _parameters(parts: tuple[Field[Any], ...], names: dict[str, Any]) -> list[str]:
    """The parameters of a class as source, their defaults put among `names`."""
    found = [_parameter(part, names) for part in parts if not part.kw_only]
    named = [_parameter(part, names) for part in parts if part.kw_only]
    return [*found, "*", *named] if named else found


def _parameter(part: Field[Any], names: dict[str, Any]) -> str:
    if part.default_factory is not MISSING:
        names[f"_made_{part.name}"] = part.default_factory
        names["_unset"] = MISSING
        return f"{part.name}=_unset"
    if part.default is MISSING:
        return part.name
    names[f"_default_{part.name}"] = part.default
    return f"{part.name}=_default_{part.name}"


def _value(part: Field[Any]) -> str:
    name = part.name
    return name if part.default_factory is MISSING else f"_made_{name}() if {name} is _unset else {name}"


def _named(self: Any) -> tuple[tuple[()], dict[str, Any]]:
    """How a copy is made."""
    return (), {part.name: getattr(self, part.name) for part in fields(self)}
