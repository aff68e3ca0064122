"""Arguments and results checked against a tool's schemas, with errors a model can act on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Final

import jsonschema_rs

from outlast.adapters.execution.expectation import BOUNDS, example_of, in_words, shown
from outlast.adapters.execution.filling import Shape, accepted_types, completed, shape_of
from outlast.adapters.execution.revive import plain_json
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.errors import CallerMistake
from outlast.domain.tool_call import ToolError
from outlast.ports.tool import Tool

_MOST_PROBLEMS: Final = 10
_MOST_COMPILED: Final = 1_000
_TOLD_BY_SCHEMA: Final = frozenset({"type", "enum", "const", "anyOf", "oneOf", *BOUNDS})


@dataclass(frozen=True, slots=True)
class Compiled:
    """A schema made ready; `source` is the mapping it was made from, `schema` the same as plain dicts."""

    source: Mapping[str, Any]
    schema: dict[str, Any]
    validator: Any
    shape: Shape | None


_compiled: OrderedDict[int, Compiled] = OrderedDict()


def compiled(schema: Mapping[str, Any]) -> Compiled:
    """`schema` made ready, once for each mapping.

    Raises CallerMistake (`invalid_tool_schema`) for what is no JSON Schema, and for a `$ref` that leads out
    of the document: nothing is ever fetched.
    """
    known = _compiled.get(id(schema))
    if known is None:
        known = _compiled[id(schema)] = _compile(schema)
        if len(_compiled) > _MOST_COMPILED:
            _compiled.popitem(last=False)
    return known


def check_arguments(tool: Tool, arguments: dict[str, Json]) -> dict[str, Json] | ToolError:
    """The arguments to run the tool with, defaults filled in; or why they cannot be used.

    A string that holds JSON is decoded where the schema wants an array or object and it parses to exactly
    that. The error names each field, what was expected and what came, and carries a valid example.
    `arguments` is not changed, and given back where there is nothing to fill in.
    """
    ready = compiled(tool.input_schema)
    filled: dict[str, Json] = completed(arguments, ready.shape)
    if ready.validator.is_valid(filled):
        return filled
    problems = tuple(_problems(ready, filled))
    detail = f"The arguments of {tool.name} do not fit its schema, so nothing was run. Correct them."
    return ToolError("invalid_arguments", detail, problems, _example(ready))


def check_output(tool: Tool, data: object) -> list[str]:
    """How `data` differs from the tool's output schema; empty when it fits or none is declared."""
    return [] if tool.output_schema is None else problems_in(tool.output_schema, data)


def problems_in(schema: Mapping[str, Any], value: object) -> list[str]:
    """How `value` differs from a schema; empty when it fits."""
    ready = compiled(schema)
    plain = plain_json(value)
    return [] if ready.validator.is_valid(plain) else list(_problems(ready, plain))


def _compile(schema: Mapping[str, Any]) -> Compiled:
    plain = plain_json(schema)
    try:
        validator = jsonschema_rs.validator_for(plain, retriever=_refuse)
    except ValueError as error:
        raise CallerMistake(
            "invalid_tool_schema",
            f"This is no JSON Schema that can be used: {str(error).splitlines()[0]}.",
            "Correct the schema; a $ref may only point into the same document (#/$defs/...).",
        ) from error
    return Compiled(schema, plain, validator, shape_of(plain, plain))


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema and is not fetched")


def _example(ready: Compiled) -> dict[str, Json] | None:
    example = completed(example_of(ready.schema, ready.schema), ready.shape)
    return example if isinstance(example, dict) and ready.validator.is_valid(example) else None


def _problems(ready: Compiled, value: Any) -> Iterator[str]:
    lines: dict[str, None] = {}
    for error in ready.validator.iter_errors(value):
        lines.update(dict.fromkeys(_explain(error, ready.schema)))
        if len(lines) > _MOST_PROBLEMS:
            yield from list(lines)[:_MOST_PROBLEMS]
            yield "and more of the kind"
            return
    yield from lines


def _explain(error: Any, root: dict[str, Any]) -> Iterator[str]:
    place, kind = list(error.instance_path), error.kind
    around = _at(root, error.schema_path[:-1])
    if kind.name == "required":
        wanted = in_words(around.get("properties", {}).get(kind.property, {}), root)
        yield f"{_path([*place, kind.property])}: expected {wanted} (required), got nothing"
    elif kind.name in ("additionalProperties", "unevaluatedProperties"):
        known = ", ".join(around.get("properties", {})) or "none"
        for name in kind.unexpected:
            got = shown(error.instance[name])
            yield f"{_path([*place, name])}: expected no such field (there are: {known}), got {got}"
    elif kind.name in ("anyOf", "oneOf") and (branch := _meant_branch(error)):
        for inner in branch:
            yield from _explain(inner, root)
    else:
        got = shown(error.instance) + _hint(error.instance, accepted_types(around, root))
        yield f"{_path(place)}: expected {_expected(error, around, root)}, got {got}"


def _expected(error: Any, around: Mapping[str, Any], root: dict[str, Any]) -> str:
    if error.kind.name in _TOLD_BY_SCHEMA:
        return in_words(around, root)
    return f"a value that fits the schema ({error.message[:200]})"


def _meant_branch(error: Any) -> list[Any]:
    """The errors of the one branch whose type the value already has: those say what is really wrong."""
    branches = getattr(error.kind, "context", ())
    near = [branch for branch in branches if not _is_wrong_type(branch, error.instance_path)]
    return list(near[0]) if len(near) == 1 else []


def _is_wrong_type(branch: list[Any], place: list[Any]) -> bool:
    return any(
        inner.kind.name in ("type", "enum", "const") and inner.instance_path == place for inner in branch
    )


def _hint(value: Any, kinds: frozenset[str]) -> str:
    wants_container = "string" not in kinds and kinds & {"array", "object"}
    is_inside_text = wants_container and isinstance(value, str) and value.lstrip()[:1] in ("[", "{")
    return "; send JSON directly, not inside a string" if is_inside_text else ""


def _at(root: Any, path: list[Any]) -> Mapping[str, Any]:
    found: Any = root
    for part in path:
        try:
            found = found[part]
        except (KeyError, IndexError, TypeError):
            return {}
    return found if isinstance(found, Mapping) else {}


def _path(parts: list[Any]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return text.lstrip(".") or "the arguments"
