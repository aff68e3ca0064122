"""JSON Schema made of a function's type hints, so that a decorated function needs no schema of its own."""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from outlast.adapters.execution.docstring import argument_docs
from outlast.domain.door import stored_form
from outlast.domain.errors import CallerMistake, ModelMistake
from outlast.ports.tool import ToolContext

Schema = dict[str, Any]

_SCALARS: Mapping[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    None: "null",
}
_NO_JSON: Any = object()
_LISTS = (list, Sequence)
_DICTS = (dict, Mapping)


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters a model fills: all but `self` and those annotated `ToolContext`."""
    hints = hints_of(function)
    found = inspect.signature(function).parameters.values()
    return [one for one in found if one.name != "self" and not is_context(hints.get(one.name))]


def context_parameter(function: Callable[..., Any]) -> str | None:
    """The name of the parameter annotated `ToolContext` (or `ToolContext | None`), if there is one."""
    hints = hints_of(function).items()
    return next((name for name, hint in hints if name != "return" and is_context(hint)), None)


def is_context(hint: object) -> bool:
    """Does this hint ask for the ToolContext?"""
    return hint is ToolContext or (_is_union(hint) and ToolContext in get_args(hint))


@lru_cache(maxsize=1024)
def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The resolved type hints of `function`.

    Raises CallerMistake (`invalid_tool`) for a hint that names nothing.
    """
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise CallerMistake(
            "invalid_tool",
            f"The type hints of {function.__qualname__} cannot be resolved: {error}.",
            "Import the types at the top of the module, outside `if TYPE_CHECKING:`.",
        ) from error


def input_schema_of(function: Callable[..., Any]) -> Schema:
    """The schema of an object with one property a parameter of `function`.

    Understands str, int, float, bool, None, Any, Optional and unions, list, dict, Literal, Enum, dataclass,
    TypedDict, and `Annotated[T, "description"]`; defaults and the `Args:` part of the docstring are carried
    over. Raises CallerMistake (`invalid_tool`) for a hint that JSON cannot express and for a parameter
    without one.
    """
    hints = hints_of(function)
    described = argument_docs(function)
    schema: Schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    for parameter in parameters(function):
        if parameter.kind is parameter.VAR_KEYWORD:
            schema["additionalProperties"] = True
            continue
        _refuse_positional(function, parameter)
        if parameter.name not in hints:
            raise _inexpressible(f"{function.__qualname__}({parameter.name})", "no type hint")
        field = schema_of(hints[parameter.name], f"{function.__qualname__}({parameter.name})")
        if parameter.name in described:
            field.setdefault("description", described[parameter.name])
        _add_field(schema, parameter.name, field, parameter.default)
    if not schema["required"]:
        del schema["required"]
    return schema


def schema_of(hint: Any, where: str) -> Schema:
    """The schema of one type hint; `where` names it in errors."""
    if isinstance(hint, Hashable) and hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if hint is Any or hint is inspect.Parameter.empty:
        return {}
    origin = get_origin(hint)
    if origin is Annotated:
        return _annotated(hint, where)
    if origin is Literal:
        return {"enum": _plain_values(get_args(hint), where)}
    if _is_union(hint):
        return _union(get_args(hint), where)
    if (container := origin or hint) in _LISTS or container in _DICTS:
        return _container(container, get_args(hint), where)
    if isinstance(hint, type):
        return _class_schema(hint, where)
    raise _inexpressible(where, f"the type hint {hint!r}")


def _annotated(hint: Any, where: str) -> Schema:
    inner, *notes = get_args(hint)
    schema = schema_of(inner, where)
    words = next((note for note in notes if isinstance(note, str)), None)
    return {**schema, "description": words} if words else schema


def _union(members: tuple[Any, ...], where: str) -> Schema:
    branches = [schema_of(member, where) for member in members]
    if all(set(branch) == {"type"} and isinstance(branch["type"], str) for branch in branches):
        return {"type": [branch["type"] for branch in branches]}
    return {"anyOf": branches}


def _container(container: Any, members: tuple[Any, ...], where: str) -> Schema:
    if container in _LISTS:
        return {"type": "array", "items": schema_of(members[0], where)} if members else {"type": "array"}
    if not members:
        return {"type": "object"}
    if members[0] is not str:
        raise _inexpressible(where, f"a dict whose keys are {members[0]!r}; JSON keys are text")
    return {"type": "object", "additionalProperties": schema_of(members[1], where)}


def _class_schema(hint: type, where: str) -> Schema:
    if issubclass(hint, Enum):
        return {"enum": _plain_values(list(hint), where)}
    if typing.is_typeddict(hint):
        return _typed_dict(hint, where)
    if dataclasses.is_dataclass(hint):
        return _dataclass(hint, where)
    raise _inexpressible(where, f"the type {hint.__name__}")


def _typed_dict(hint: Any, where: str) -> Schema:
    fields = typing.get_type_hints(hint, include_extras=True)
    properties = {name: schema_of(_bare(field), f"{where}.{name}") for name, field in fields.items()}
    required = sorted(hint.__required_keys__)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _dataclass(hint: Any, where: str) -> Schema:
    schema: Schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    hints = typing.get_type_hints(hint, include_extras=True)
    for field in dataclasses.fields(hint):
        _add_field(
            schema, field.name, schema_of(hints[field.name], f"{where}.{field.name}"), _default_of(field)
        )
    return schema


def _default_of(field: dataclasses.Field[Any]) -> Any:
    if callable(factory := field.default_factory):
        return factory()
    return inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) in (typing.Required, typing.NotRequired) else hint


def _add_field(schema: Schema, name: str, field: Schema, default: Any) -> None:
    if default is inspect.Parameter.empty:
        schema["required"].append(name)
    elif default is None and field:
        field = _nullable(field)
    elif (value := _plain(default)) is not _NO_JSON:
        field["default"] = value
    schema["properties"][name] = field


def _nullable(field: Schema) -> Schema:
    """`x: int = None` is written often and means `int | None`."""
    kinds = field.get("type")
    if isinstance(kinds, str) and not {"items", "properties", "additionalProperties"} & set(field):
        field = {**field, "type": [kinds, "null"]}
    elif "null" not in (kinds or ()) and {"type": "null"} not in field.get("anyOf", ()):
        field = {"anyOf": [field, {"type": "null"}]}
    return {**field, "default": None}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return _plain(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    try:
        return stored_form(list(value) if isinstance(value, tuple) else value)
    except ModelMistake:
        return _NO_JSON


def _plain_values(values: Iterable[Any], where: str) -> list[Any]:
    plain = [_plain(value) for value in values]
    if _NO_JSON in plain:
        raise _inexpressible(where, "a choice that is no JSON value")
    return plain


def _refuse_positional(function: Callable[..., Any], parameter: inspect.Parameter) -> None:
    if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
        raise CallerMistake(
            "invalid_tool",
            f"The parameter {parameter.name} of {function.__qualname__} cannot be given by name.",
            "Arguments of a tool are passed by name; drop the `/` or `*` form.",
        )


def _is_union(hint: object) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def _inexpressible(where: str, what: str) -> CallerMistake:
    return CallerMistake(
        "invalid_tool",
        f"No JSON Schema can be made for {where}: {what}.",
        "Use str, int, float, bool, None, list, dict, Literal, Enum, dataclass, TypedDict, or input_schema.",
    )
