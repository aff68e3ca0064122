"""The rules of the house about single modules: each takes a module and yields complaints."""

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping

from tests.architecture.source import Module, imported_names

Rule = Callable[[Module], Iterator[str]]

BELOW_THE_EDGES = {"domain", "ports", "journal", "runs", "tasks", "service"}
EMPTY_NAMES = {"utils", "util", "common", "helpers", "helper", "core", "base", "manager", "misc", "shared"}
FILE_LINES, FUNCTION_LINES = 400, 60
OUR_DATACLASS = "src/outlast/domain/dataclass.py"

_CLOCKS = re.compile(r"(datetime\.)?(datetime|date)\.(now|utcnow|today)|time\.(time|time_ns)")
_SLEEPS = {"time.sleep", "asyncio.sleep", "anyio.sleep", "sleep"}


def file_size(module: Module, exceptions: Mapping[str, int]) -> Iterator[str]:
    """A file has at most 400 lines."""
    lines = len(module.text.splitlines())
    yield from _size(module.path, lines, FILE_LINES, exceptions.get(module.path))


def function_size(module: Module, exceptions: Mapping[str, int]) -> Iterator[str]:
    """A function has at most 60 lines, docstring included."""
    for name, function in module.functions():
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        key = f"{module.path}::{name}"
        yield from _size(key, lines, FUNCTION_LINES, exceptions.get(key))


def _size(what: str, lines: int, limit: int, exception: int | None) -> Iterator[str]:
    allowed = limit if exception is None else exception
    if lines > allowed:
        yield f"{what} has {lines} lines, {allowed} are allowed"
    elif exception is not None and lines < exception:
        number = "remove its exception" if lines <= limit else f"lower its number to {lines}"
        yield f"{what} has become smaller: {number} in ratchet.toml"


def complexity_exemptions(module: Module) -> Iterator[str]:
    """Only a pure `match` dispatch may be more complex than ten."""
    lines = module.text.splitlines()
    for name, function in module.functions():
        if "noqa: C901" in lines[function.lineno - 1] and not _is_dispatch(function.body):
            yield f"{module.path}::{name} is exempt from the complexity limit but is not a pure match dispatch"


def _is_dispatch(body: list[ast.stmt]) -> bool:
    has_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    match body[1:] if has_docstring else body:
        case [ast.Match() as dispatch] | [ast.Match() as dispatch, ast.Return() | ast.Raise() | ast.Expr()]:
            branching = (ast.If, ast.For, ast.While, ast.Try, ast.AsyncFor, ast.Match)
            nodes = (node for case in dispatch.cases for line in case.body for node in ast.walk(line))
            return not any(isinstance(node, branching) for node in nodes)
        case _:
            return False


def meaningful_name(module: Module) -> Iterator[str]:
    """A module is named for what it holds."""
    empty = EMPTY_NAMES & set(module.name.split("."))
    if empty:
        yield f"{module.path}: {', '.join(sorted(empty))} says nothing about what lives there"


def room_says_what_it_is(module: Module) -> Iterator[str]:
    """A package says what lives there, what it may import and how to add one."""
    if not module.path.endswith("/__init__.py") or module.name == "outlast":
        return
    docstring = ast.get_docstring(module.tree) or ""
    for part in ("May import:", "To add one:"):
        if part not in docstring:
            yield f"{module.path}: the docstring lacks {part!r}"


def own_rooms_imported_at_the_top(module: Module) -> Iterator[str]:
    """Our own rooms are imported at the top of a module; an import inside a function hides a cycle."""
    for name, function in module.functions():
        for node in ast.walk(function):
            for imported in imported_names(node):
                if imported.partition(".")[0] == "outlast":
                    yield f"{module.path}::{name} imports {imported} inside a function"


def no_third_party_below_the_edges(module: Module) -> Iterator[str]:
    """Vendors live in adapters, wiring and the doors."""
    if module.room not in BELOW_THE_EDGES:
        return
    for node in ast.walk(module.tree):
        for imported in imported_names(node):
            top = imported.partition(".")[0]
            if top != "outlast" and top not in sys.stdlib_module_names:
                yield f"{module.path} imports {top}; {module.room} knows only the standard library"


def dataclasses_made_quickly(module: Module) -> Iterator[str]:
    """Dataclasses of outlast are made by its own `dataclass`, since all of them are made at each start (decision 0172)."""
    if module.path == OUR_DATACLASS:
        return
    for node in ast.walk(module.tree):
        if "dataclasses.dataclass" in imported_names(node):
            yield f"{module.path} imports dataclasses.dataclass; import it from outlast.domain.dataclass"


def no_clock_below_the_edges(module: Module) -> Iterator[str]:
    """Time is handed in; only adapters, wiring and the doors read a clock."""
    if module.room not in BELOW_THE_EDGES:
        return
    for node in ast.walk(module.tree):
        read = _dotted(node) if isinstance(node, ast.Attribute) else ""
        imported = [name for name in imported_names(node) if name in {"time.time", "time.time_ns"}]
        if imported or _CLOCKS.fullmatch(read):
            yield f"{module.path} reads the wall clock by {read or imported[0]}"


def no_sleeping_tests(module: Module) -> Iterator[str]:
    """A test waits for an event with a bound, never for a while; `asyncio.sleep(0)` yields and is fine."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=func, args=[ast.Constant(value=0)]) if _dotted(func) == "asyncio.sleep":
                pass
            case ast.Call(func=func) if _dotted(func) in _SLEEPS:
                yield f"{module.path}:{node.lineno} sleeps"


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            return f"{_dotted(value)}.{attr}"
        case _:
            return "?"


OURS: tuple[Rule, ...] = (
    meaningful_name,
    room_says_what_it_is,
    own_rooms_imported_at_the_top,
    no_third_party_below_the_edges,
    no_clock_below_the_edges,
    dataclasses_made_quickly,
)
EVERYWHERE: tuple[Rule, ...] = (complexity_exemptions,)
TESTS: tuple[Rule, ...] = (no_sleeping_tests,)
