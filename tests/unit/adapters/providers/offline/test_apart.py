"""The offline provider needs nothing but the standard library, and nothing else knows that it is offline."""

import ast
import sys
from pathlib import Path

import outlast
from tests.law import law

SRC = Path(outlast.__file__).parent
FOLDER = SRC / "adapters/providers/offline"
NETWORK = {
    "socket",
    "ssl",
    "http",
    "urllib",
    "ftplib",
    "smtplib",
    "xmlrpc",
    "socketserver",
    "subprocess",
    "multiprocessing",
}
OURS = ("outlast.adapters.providers.", "outlast.domain.", "outlast.ports.")


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


@law("MODEL-2.a")
def test_it_imports_the_standard_library_and_our_seams_without_a_network() -> None:
    for path in FOLDER.glob("*.py"):
        for name in imported(path):
            root = name.partition(".")[0]
            assert name.startswith(OURS) or (root in sys.stdlib_module_names and root not in NETWORK), (
                path,
                name,
            )


@law("MODEL-2.b")
def test_no_other_code_asks_whether_it_is_offline() -> None:
    """The wiring may: it chooses what `search` and `web_fetch` reach by the provider that is named."""
    for path in SRC.rglob("*.py"):
        if path.is_relative_to(FOLDER) or path.is_relative_to(SRC / "wiring"):
            continue
        compared = [
            node
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Compare | ast.match_case)
        ]
        constants = [
            inner.value for node in compared for inner in _asked(node) if isinstance(inner, ast.Constant)
        ]
        assert "offline" not in constants, path


def _asked(node: ast.Compare | ast.match_case) -> list[ast.AST]:
    return list(ast.walk(node.pattern if isinstance(node, ast.match_case) else node))
