"""Every stable error code there is in the code, found in the syntax trees, to be compared with the reference page."""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import get_args

from outlast.domain.errors import ModelFault
from tests.architecture.source import Module

_FAULTS = tuple(f"model_{fault}" for fault in get_args(ModelFault))

MADE_OF_PARTS: dict[str, tuple[str, ...]] = {
    "f'bad_{what}'": ("bad_thread", "bad_key"),
    "f'model_{branch.fault}'": _FAULTS,
    "f'unknown_{what}'": ("unknown_run", "unknown_thread"),
    "f'{what}_not_found'": ("workflow_not_found", "hook_not_found"),
    "ticket.status": ("rejected", "expired"),
}
"""Codes that are put together where they are raised, by how they are spelled there."""

_CODE_AT = {
    "ToolError": 0,
    "fail": 1,
    "settle": 1,
    "_fail": 2,
    "Problem": 3,
    "tell_error": 0,
    "problem": 0,
    "ended_in_part": 1,
}
"""Where calls that are no errors of the tree take a code, by position."""

_NO_CODES = {"ModelCallFailed", "ScriptExhausted"}
"""Errors that are made with a fault, or set their code themselves."""

_SAY_IT_THEMSELVES = {"ScriptExhausted", "ReplayDiverged", "Refusal"}
"""Errors with one next step for all that are made of them, and a name that means something else too."""

_HEADING = re.compile(r"^### `([a-z_]+)`$", re.MULTILINE)


def codes_in(modules: Iterable[Module]) -> set[str]:
    """Every code, those of model faults included."""
    found = [*modules]
    kinds = _error_kinds(found)
    return {code for module in found for spelled in _spelled(module, kinds) for code in _values(spelled)} | {
        *_FAULTS
    }


def spellings_in(modules: Iterable[Module]) -> set[str]:
    """How codes that are put together are spelled."""
    found = [*modules]
    kinds = _error_kinds(found)
    return {
        ast.unparse(spelled)
        for module in found
        for spelled in _spelled(module, kinds)
        if isinstance(spelled, ast.JoinedStr) or ast.unparse(spelled) in MADE_OF_PARTS
    }


def headings_in(page: str) -> list[str]:
    """The codes a page has a heading for, in its order."""
    return _HEADING.findall(page)


def _error_kinds(modules: list[Module]) -> set[str]:
    """OutlastError and every class below it, wherever it is defined."""
    classes = [node for module in modules for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)]
    kinds = {"OutlastError"}
    while more := {
        one.name for one in classes if kinds & {_last(base) for base in one.bases} and one.name not in kinds
    }:
        kinds |= more
    return kinds - _NO_CODES


def _spelled(module: Module, kinds: set[str]) -> Iterator[ast.expr]:
    """Every expression in the place of a code."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=function, args=given, keywords=named):
                name = _last(function)
                position = 0 if name in kinds else _CODE_AT.get(name)
                if position is not None and len(given) > position:
                    yield given[position]
                if name in kinds or name in _CODE_AT or name == "StateEntered":
                    yield from (one.value for one in named if one.arg == "code")
            case ast.Assign(targets=[ast.Attribute(attr="code")], value=value):
                yield value
            case ast.AnnAssign(target=ast.Name(id="code"), value=ast.expr() as value):
                yield value


def _values(spelled: ast.expr) -> Iterable[str]:
    """The codes an expression may be; one that only hands a code on has none of its own."""
    match spelled:
        case ast.Constant(value=str() as code):
            return [code] if code else []
        case ast.JoinedStr():
            return MADE_OF_PARTS.get(ast.unparse(spelled), (f"unknown:{ast.unparse(spelled)}",))
        case ast.IfExp(body=body, orelse=other):
            return [*_values(body), *_values(other)]
        case _:
            return MADE_OF_PARTS.get(ast.unparse(spelled), ())


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def without_next_step(modules: Iterable[Module]) -> list[str]:
    """Where an error is made that does not say what to do next, as `path:line`."""
    found = [*modules]
    kinds = (_error_kinds(found) | {"ModelCallFailed"}) - _SAY_IT_THEMSELVES
    return [
        f"{module.path}:{node.lineno}"
        for module in found
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and _last(node.func) in kinds and not _says_next(node)
    ]


def _says_next(made: ast.Call) -> bool:
    """Is a third argument given, or one of that name, other than an empty text?"""
    given = [*made.args[2:3], *(one.value for one in made.keywords if one.arg == "next_step")]
    is_handed_on = any(isinstance(one, ast.Starred) for one in made.args)
    return is_handed_on or any(not (isinstance(one, ast.Constant) and not one.value) for one in given)
