"""Which tools a Python file declares, read from its text: nothing is imported to find out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from outlast.domain.dataclass import dataclass

_KIT: Final = frozenset({"outlast.tools", "outlast.ports.tool"})


@dataclass(frozen=True, slots=True)
class Declared:
    """A tool in a file: its name, the class or function that makes it, its effect if it declares one."""

    name: str
    symbol: str
    effect: str | None


@dataclass(frozen=True, slots=True)
class Scan:
    """What a file declares, and why it could not be read, if it could not."""

    tools: tuple[Declared, ...] = ()
    problem: str | None = None


def scan(path: Path) -> Scan:
    """The tools declared at the top of the file at `path`: subclasses of BaseTool with a name, and `@tool`
    functions.

    A class without a literal `name` is a base for others and no tool. A file is parsed once for each state it
    is in.
    """
    try:
        state = path.stat()
        return _scanned(path, state.st_mtime_ns, state.st_size)
    except OSError as error:
        return Scan(problem=f"{path} cannot be read: {error.strerror}")


def python_files(path: Path) -> list[Path]:
    """The file at `path`, or the Python files of the folder there in order of their names, those that begin with `_` left out."""
    if path.is_dir():
        return sorted(file for file in path.glob("*.py") if not file.name.startswith("_"))
    return [path]


def file_of_module(module: str) -> Path | None:
    """The source file of a module that could be imported, found without importing it or the packages around it."""
    folders: list[str] | None = None
    file: Path | None = None
    parts = module.split(".")
    for depth in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:depth]), folders)
        if spec is None:
            return None
        folders = list(spec.submodule_search_locations or ())
        file = Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
    return file


@lru_cache(maxsize=4096)
def _scanned(path: Path, _changed_at_ns: int, _size_bytes: int) -> Scan:
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError) as error:
        return Scan(problem=f"{path} is not valid Python: {error}")
    return Scan(tuple(_declared(tree, _Imported.of(tree))))


@dataclass(slots=True)
class _Imported:
    """What a file calls the parts of the tool kit."""

    bases: set[str] = field(default_factory=set)
    decorators: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, tree: ast.Module) -> _Imported:
        names = cls()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in _KIT:
                for alias in node.names:
                    names._add(alias.name, alias.asname or alias.name)
            elif isinstance(node, ast.ImportFrom) and node.module == "outlast":
                names._add_modules(
                    (alias.asname or alias.name) for alias in node.names if alias.name == "tools"
                )
            elif isinstance(node, ast.Import):
                names._add_modules((alias.asname or alias.name) for alias in node.names if alias.name in _KIT)
        return names

    def _add(self, name: str, local: str) -> None:
        if name == "BaseTool":
            self.bases.add(local)
        elif name == "tool":
            self.decorators.add(local)

    def _add_modules(self, local_names: Iterator[str]) -> None:
        for local in local_names:
            self._add("BaseTool", f"{local}.BaseTool")
            self._add("tool", f"{local}.tool")


def _declared(tree: ast.Module, imported: _Imported) -> Iterator[Declared]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and {ast.unparse(base) for base in node.bases} & imported.bases:
            imported.bases.add(node.name)
            name = _literal(node.body, "name")
            if name is not None:
                yield Declared(name, node.name, _literal(node.body, "effect"))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _decorated(node, imported)


def _decorated(node: ast.FunctionDef | ast.AsyncFunctionDef, imported: _Imported) -> Iterator[Declared]:
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        if ast.unparse(call.func if call else decorator) in imported.decorators:
            given = {one.arg: _text(one.value) for one in call.keywords} if call else {}
            yield Declared(given.get("name") or node.name, node.name, given.get("effect"))


def _literal(body: list[ast.stmt], name: str) -> str | None:
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=found)], value=value) if found == name:
                return _text(value)
            case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value) if found == name:
                return _text(value)
    return None


def _text(node: ast.expr) -> str | None:
    """A text written as it is, or a member of Effect by its name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("Effect"):
        return node.attr.lower()
    return None
