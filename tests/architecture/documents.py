"""What documents promise: code that compiles, links that lead somewhere, lengths that a reader can bear."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

AGENTS_LINES, DECISION_LINES = 120, 40

_BLOCK = re.compile(r"^```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)(?P<target>[^)#\s]+)")


def code_blocks(text: str, language: str) -> list[str]:
    """The code of every fenced block in the language."""
    return [block["code"] for block in _BLOCK.finditer(text) if block["language"] == language]


def broken_code(path: str, text: str) -> Iterator[str]:
    """Every Python block that does not compile; `await` at the top is allowed, as in a notebook."""
    for number, code in enumerate(code_blocks(text, "python"), 1):
        try:
            compile(code, path, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except SyntaxError as error:
            yield f"{path}: python block {number} does not compile: {error}"


def broken_links(path: str, text: str, exists: Callable[[str], bool]) -> Iterator[str]:
    """Every relative link that leads nowhere."""
    for link in _LINK.finditer(text):
        if not exists(str(PurePosixPath(path).parent / link["target"])):
            yield f"{path} links to {link['target']}, which is not there"


def too_long(path: str, text: str) -> Iterator[str]:
    """AGENTS.md has at most 120 lines, a decision 40."""
    lines = len(text.splitlines())
    limit = (
        AGENTS_LINES
        if path == "AGENTS.md"
        else DECISION_LINES
        if path.startswith("docs/decisions/")
        else lines
    )
    if lines > limit:
        yield f"{path} has {lines} lines, {limit} are allowed"
