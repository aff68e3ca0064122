"""What documents promise: code that compiles, links that lead somewhere, lengths that a reader can bear."""

import ast
import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

AGENTS_LINES, DECISION_LINES = 120, 40

_BLOCK = re.compile(r"^```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)(?P<target>[^)#\s]+)")
_ANCHOR = re.compile(r"\]\((?!https?:|mailto:)(?P<target>[^)#\s]*)#(?P<anchor>[^)\s]+)")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


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


def broken_anchors(path: str, text: str, read: Callable[[str], str]) -> Iterator[str]:
    """Every link to a heading that its page does not have; `read` gives the text of a page."""
    for link in _ANCHOR.finditer(_FENCED.sub("", text)):
        target = (
            posixpath.normpath(str(PurePosixPath(path).parent / link["target"])) if link["target"] else path
        )
        if target.endswith(".md") and link["anchor"] not in anchors_in(
            text if target == path else read(target)
        ):
            yield f"{path} links to #{link['anchor']}, which {target} does not have"


def anchors_in(text: str) -> set[str]:
    """What the headings of a page are linked by."""
    plain = [heading.lower() for heading in _HEADING.findall(_FENCED.sub("", text))]
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}


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
