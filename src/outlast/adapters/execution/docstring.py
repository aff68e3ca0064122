"""What a docstring says to a model: a summary, and a word on each argument."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any


def summary_of(function: Callable[..., Any] | type) -> str:
    """The docstring up to its list of arguments, as one paragraph; empty when there is none."""
    text = inspect.getdoc(function) or ""
    return " ".join(re.split(r"\n\s*(?:Args|Arguments|Returns|Raises|Yields):[ ]*\n", text)[0].split())


def argument_docs(function: Callable[..., Any]) -> dict[str, str]:
    """What the `Args:` part of a Google-style docstring says about each parameter."""
    text = inspect.getdoc(function) or ""
    part = re.search(r"^(?:Args|Arguments):[ ]*\n((?:[ \t]+.*(?:\n|$)|\n)+)", text, re.MULTILINE)
    return dict(_argument_lines(part.group(1))) if part else {}


def _argument_lines(block: str) -> Iterator[tuple[str, str]]:
    lines = inspect.cleandoc(block).splitlines()
    starts = [place for place, line in enumerate(lines) if re.match(r"\w+\s*(?:\([^)]*\))?:", line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        head, _, rest = lines[start].partition(":")
        words = " ".join([rest.strip(), *(line.strip() for line in lines[start + 1 : end])]).strip()
        yield head.partition("(")[0].strip(), words
