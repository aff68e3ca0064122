"""Import cycles between modules, found at any depth."""

import ast
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter

from tests.architecture.source import Module, imported_names


def import_cycle(modules: Iterable[Module]) -> list[str]:
    """The names along one import cycle, first and last the same; empty when there is none."""
    by_name = {module.name: module for module in modules}
    sorter = TopologicalSorter({name: _imports(module, by_name) for name, module in by_name.items()})
    try:
        sorter.prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return []


def _imports(module: Module, known: Iterable[str]) -> set[str]:
    found = {_owner(name, known) for node in _run_on_import(module.tree) for name in imported_names(node)}
    return found - {"", module.name}


def _owner(name: str, known: Iterable[str]) -> str:
    """The module a dotted name belongs to: itself, or the module that defines it."""
    return next((candidate for candidate in (name, name.rpartition(".")[0]) if candidate in known), "")


def _run_on_import(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that runs when the module is imported."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                pass
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                pass
            case _:
                yield child
                yield from _run_on_import(child)
