"""Every tool there is, found without importing it, and imported when a task names it."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final

from outlast.adapters import tools as built_in
from outlast.adapters.execution.binding import bind
from outlast.adapters.execution.child import Children
from outlast.adapters.execution.loading import Origin, load, load_file
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake
from outlast.ports.tool import Tool
from outlast.wiring.tool_files import Declared, file_of_module, python_files, scan

ENTRY_POINT_GROUP: Final = "outlast.tools"
"""The entry point group of packages that bring tools: `name = "package.module:Symbol"`."""

LATER: Final = frozenset(
    {
        "run_code",
    }
)
"""Built-in tools whose feature is not there yet; a task may name them and works without them."""

BUILT_IN: Final = "built-in"


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool that can be named in a task.

    `effect` is None where the tool declares none, or where only importing it would tell. `origin` is
    `built-in`, `entry point`, `folder`, `import path`, `code` or `mcp`; `path` is where it is defined; `replaces`
    the path of the built-in it stands for. A tool of an MCP `server` is named `server:tool` in tasks and `model_name`
    for models; `problem` says why it cannot be used.
    """

    name: str
    effect: str | None
    origin: str
    path: str
    replaces: str | None = None
    server: str | None = None
    model_name: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _Source:
    """An entry and how the tool is got: the mark changes with what would be loaded."""

    entry: ToolEntry
    mark: object
    declaration: Callable[[], Any]


class ToolCatalogue:
    """The built-in tools and the user's: from folders, files, import paths, entry points, and objects given
    in code.

    Folders are read again each time, so a file added while a worker runs is found by the next run. A tool of
    the user's takes the place of a built-in one of its name; two of the user's of one name are refused when
    they are asked for.
    """

    def __init__(
        self,
        paths: Sequence[Path | str] = (),
        *,
        given: Sequence[object] = (),
        mcp_servers: Collection[str] = (),
        children: Children | None = None,
    ) -> None:
        """Nothing is read yet.

        `paths` are folders, files and import paths of the form `package.module:Symbol`; `given` are declarations as
        objects; `children` run plain functions (this process's own unless given).
        """
        self._paths = tuple(Path(path) for path in paths if not is_import_path(path))
        self._import_paths = tuple(str(path) for path in paths if is_import_path(path))
        self._given = tuple(given)
        self._mcp_servers = frozenset(mcp_servers)
        self._children = children
        self._bound: dict[str, tuple[object, Tool]] = {}
        self._by_id: dict[int, _Source] = {}

    def list(self) -> list[ToolEntry]:
        """Every tool that can be named, by name.

        Raises CallerMistake (`tool_named_twice`, `no_such_path`, `tool_not_loadable`).
        """
        found = self._found()
        return [self._chosen(name, found[name]).entry for name in sorted(found)]

    def problems(self) -> tuple[str, ...]:
        """What kept files from being searched for tools: those that cannot be read or parsed."""
        scans = (scan(file) for path in self._paths if path.exists() for file in python_files(path))
        return tuple(one.problem for one in scans if one.problem)

    def load(self, names: Iterable[str]) -> dict[str, Tool]:
        """The tools of these names, imported and ready; names for which `later` has a notice are left out.

        Raises CallerMistake: `unknown_tool` with the nearest name, `tool_named_twice` with both places,
        `tool_not_loadable`, `invalid_tool` and `invalid_tool_schema` with what to correct.
        """
        wanted = dict.fromkeys(names)
        found = self._found(frozenset(wanted))
        if not wanted.keys() <= found.keys():
            found = self._found()
        late = {name for name in wanted if name not in found and self._notice(name)}
        if unknown := [name for name in wanted if name not in found and name not in late]:
            raise self._unknown(unknown[0], found)
        return {name: self._ready(name, found[name]) for name in wanted if name not in late}

    def having(self, names: Iterable[str]) -> frozenset[str]:
        """Those of these names that there are tools of; nothing is imported."""
        return frozenset(names) & self._found().keys()

    def require(self, names: Iterable[str]) -> None:
        """Make sure that there are tools of these names, now or later; nothing is imported. Raises CallerMistake (`unknown_tool`)."""
        found = self._found()
        for name in names:
            if name not in found and not self._notice(name):
                raise self._unknown(name, found)

    def later(self, names: Iterable[str]) -> tuple[str, ...]:
        """A plain notice for each of these names that stands for a feature not there yet."""
        found = self._found()
        notices = (self._notice(name) for name in names if name not in found)
        return tuple(notice for notice in notices if notice)

    def _found(self, names: frozenset[str] | None = None) -> dict[str, Sequence[_Source]]:
        """Each name with the user's tools of that name, or else the built-in one; `replaces` filled in.

        With `names`, of the built-in tools only those whose file is named like one of them.
        """
        built = {source.entry.name: source for source in _built_in(names)}
        users: dict[str, Sequence[_Source]] = {}
        for source in self._of_the_user():
            name = source.entry.name
            marked = source
            if name in built:
                marked = replace(source, entry=replace(source.entry, replaces=built[name].entry.path))
            users[name] = (*users.get(name, ()), marked)
        return {**{name: (source,) for name, source in built.items()}, **users}

    def _of_the_user(self) -> Iterator[_Source]:
        for path in self._paths:
            yield from _in_path(path)
        for import_path in self._import_paths:
            yield _by_import_path(import_path)
        for point in _entry_points(tuple(sys.path)):
            yield _by_import_path(point.value, named=point.name, origin="entry point")
        for declared in self._given:
            if id(declared) not in self._by_id:
                self._by_id[id(declared)] = self._by_object(declared)
            yield self._by_id[id(declared)]

    def _by_object(self, declared: object) -> _Source:
        tool = bind(declared, self._children)
        effect = str(tool.effect) if tool.is_effect_declared else None
        kind: Any = declared if hasattr(declared, "__qualname__") else type(declared)
        entry = ToolEntry(tool.name, effect, "code", f"{kind.__module__}:{kind.__qualname__}")
        return _Source(entry, id(declared), lambda: declared)

    def _chosen(self, name: str, sources: Sequence[_Source]) -> _Source:
        distinct = {source.entry.path: source for source in sources}
        if len(distinct) > 1:
            raise CallerMistake(
                "tool_named_twice",
                f"Two tools are named {name}: {' and '.join(distinct)}.",
                "Rename one of them, or take one out of tools.paths.",
            )
        return sources[0]

    def _ready(self, name: str, sources: Sequence[_Source]) -> Tool:
        source = self._chosen(name, sources)
        mark, tool = self._bound.get(name, (None, None))
        if tool is None or mark != source.mark:
            tool = bind(source.declaration(), self._children)
            # A file may compute the name its text does not show; a task knows the tool by the name in the listing.
            tool.name = name
            self._bound[name] = (source.mark, tool)
        return tool

    def _notice(self, name: str) -> str | None:
        if name in LATER:
            return f"The tool {name} is not there yet; the task runs without it."
        return None

    def _unknown(self, name: str, found: Collection[str]) -> CallerMistake:
        server, colon, _ = name.partition(":")
        known = sorted({*found, *LATER})
        near = difflib.get_close_matches(
            server if colon else name, self._mcp_servers if colon else known, n=1
        )
        what = f"There is no tool {name}, and no MCP server {server}" if colon else f"There is no tool {name}"
        guess = f" Did you mean {near[0]}{name[len(server) :] if colon else ''}?" if near else ""
        return CallerMistake("unknown_tool", f"{what}.{guess}", "`outlast tools list` shows every tool.")


def is_import_path(path: Path | str) -> bool:
    """Is this `package.module:Symbol` rather than a file or folder?"""
    return isinstance(path, str) and re.fullmatch(r"\w+(\.\w+)*:\w+", path) is not None


@lru_cache(maxsize=64)
def _built_in(names: frozenset[str] | None) -> tuple[_Source, ...]:
    """The tools that come with outlast, those in files of these names; they do not change under a running process."""
    return tuple(
        _source(
            declared, BUILT_IN, path, Origin(f"{built_in.__name__}.{path.stem}", str(path), declared.symbol)
        )
        for path in python_files(Path(built_in.__path__[0]))
        if names is None or path.stem in names
        for declared in scan(path).tools
    )


@lru_cache(maxsize=1)
def _entry_points(_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of installed packages; reading them walks every package, so it is done once for an import path."""
    return tuple(entry_points(group=ENTRY_POINT_GROUP))


def _in_path(path: Path) -> Iterator[_Source]:
    if not path.exists():
        raise CallerMistake(
            "no_such_path", f"tools.paths names {path}, which is not there.", "Correct the path."
        )
    for file in python_files(path):
        for declared in scan(file).tools:
            yield _source(declared, "folder", file, None)


def _source(declared: Declared, origin: str, file: Path, module: Origin | None) -> _Source:
    entry = ToolEntry(declared.name, declared.effect, origin, f"{file}:{declared.symbol}")

    def declaration() -> Any:
        return load(module) if module else getattr(load_file(file), declared.symbol)

    return _Source(entry, (str(file), file.stat().st_mtime_ns, file.stat().st_size), declaration)


def _by_import_path(import_path: str, named: str | None = None, origin: str = "import path") -> _Source:
    module, _, symbol = import_path.partition(":")
    file = file_of_module(module)
    if file is None or not symbol:
        raise CallerMistake(
            "tool_not_loadable",
            f"The tool {import_path} cannot be found: there is no module {module}.",
            "Write package.module:Name, and install the package.",
        )
    declared = next((one for one in scan(file).tools if one.symbol == symbol), None)
    name = declared.name if declared else named or symbol
    entry = ToolEntry(name, declared.effect if declared else None, origin, f"{file}:{symbol}")
    return _Source(entry, import_path, lambda: load(Origin(module, str(file), symbol)))
