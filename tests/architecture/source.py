"""Reads the repository for the architecture tests: files, syntax trees, imports."""

import ast
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RATCHET = ROOT / "tests/architecture/ratchet.toml"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One Python file: its path inside the repository and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of the text."""
        return ast.parse(self.text)

    @property
    def name(self) -> str:
        """The dotted name it is imported by, packages without `__init__`."""
        dotted = self.path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        return dotted.removesuffix(".__init__")

    @property
    def room(self) -> str:
        """The folder right below `outlast` it lives in; empty outside every room."""
        parts = self.path.removeprefix("src/outlast/").split("/")
        return parts[0] if self.path.startswith("src/outlast/") and len(parts) > 1 else ""

    def functions(self) -> Iterator[tuple[str, Function]]:
        """Every function with its dotted name inside the module."""
        yield from _functions(self.tree, "")


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, Function | ast.ClassDef)
        name = f"{prefix}{child.name}" if isinstance(child, Function | ast.ClassDef) else prefix
        if isinstance(child, Function):
            yield name, child
        yield from _functions(child, f"{name}." if named else prefix)


def imported_names(node: ast.AST) -> list[str]:
    """The dotted names that one statement imports; `from a import b` gives `a.b`."""
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(module=str(module)):
            return [f"{module}.{alias.name}" for alias in node.names]
        case _:
            return []


def repository_files() -> list[str]:
    """Every file that is or could be committed, as a path inside the repository.

    In an exported tree without history: every file outside environments and caches.
    """
    if (ROOT / ".git").exists():
        git = ["git", "-c", "safe.directory=*", "-C", str(ROOT)]
        listing = [*git, "ls-files", "--cached", "--others", "--exclude-standard"]
        found = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.splitlines()
    else:
        inside = [path.relative_to(ROOT) for path in ROOT.rglob("*")]
        found = [path.as_posix() for path in inside if not any(_is_a_cache(part) for part in path.parts)]
    return sorted(path for path in set(found) if (ROOT / path).is_file())


def _is_a_cache(folder: str) -> bool:
    return folder in {"__pycache__", "node_modules"} or (folder.startswith(".") and folder != ".ci")


def modules(*folders: str) -> list[Module]:
    """The Python files below the given folders of the repository."""
    return [module for folder in folders for module in modules_below(folder)]


@cache
def modules_below(folder: str) -> tuple[Module, ...]:
    """The Python files below a folder, read once; whoever is done with all their trees clears the cache."""
    found = sorted((ROOT / folder).rglob("*.py"))
    return tuple(Module(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in found)


def ratchet() -> dict[str, Any]:
    """The named exceptions, each with a number that may only fall."""
    return tomllib.loads(RATCHET.read_text("utf-8"))
