"""Tools written as plain functions, in a module of their own so that child processes can load them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from outlast.tools import Ask, BaseTool, Draft, Found, ReadSource, ToolContext, ToolResult, ToolTrouble, tool


class Unit(Enum):
    METRE = "m"
    FOOT = "ft"


@dataclass(frozen=True)
class Length:
    amount: float
    unit: Unit = Unit.METRE


@tool(effect="read", timeout_seconds=30)
def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    Args:
        a: the first
        b: the second,
            which may be left out
    """
    return a + b


@tool(effect="read")
def describe(length: Length, context: ToolContext) -> dict[str, str]:
    """Say which types arrived."""
    return {"type": type(length).__name__, "unit": length.unit.name, "key": context.idempotency_key}


@tool(timeout_seconds=2)
def shell(command: str) -> None:
    """Run a command line; what it prints is the result."""
    subprocess.run(["bash", "-c", command], check=False)


@tool(timeout_seconds=1)
def sleep(seconds: float, late_file: str = "") -> str:
    """Sleep, then write a file."""
    threading.Event().wait(seconds)
    Path(late_file).write_text("late")
    return "late"


@tool(effect="read")
def result_of_each_kind(kind: str) -> object:
    """Return or raise what `kind` says."""
    match kind:
        case "ask":
            return Ask("Which one?")
        case "draft":
            return Draft({"title": "T", "sections": []})
        case "full":
            found, read = [Found("u", "t", "q")], [ReadSource("u", "t", "text")]
            return ToolResult(success=True, data={"n": 1}, found=found, read=read)
        case "failure":
            return ToolResult(success=False, error="no")
        case "bytes":
            return b"caf\xe9\n\xff\xfe"
        case "object":
            return {"a": [1, object()]}
        case "large":
            return ["x" * 1000] * 20_000
        case "long":
            return "x" * 100 + "é" * 5_000_000 + "end"
    return _raise_or_end(kind)


def _raise_or_end(kind: str) -> object:
    match kind:
        case "raise":
            sys.stdout.write("before it failed\n")
            raise ValueError("bad \ud800 text")
        case "trouble":
            raise ToolTrouble("not_found", "No such page.", "Search again.")
        case "exit":
            sys.exit(3)
        case "hard_exit":
            os._exit(7)
        case "segfault":
            os.kill(os.getpid(), 11)
        case "forged":
            os.write(next(fd for fd in range(3, 30) if _is_socket(fd)), b"\0" * 7 + b"\x05nonsense")
            os._exit(0)
    raise AssertionError(kind)


def _is_socket(descriptor: int) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:")
    except OSError:
        return False


@tool(effect="read")
def search_from_here(context: ToolContext) -> object:
    """Reach for a service that does not reach into this process."""
    return context.search.search("x", 1)  # type: ignore[union-attr]


class Greeting(BaseTool):
    """Greets."""

    name = "greeting"
    effect = "read"

    def __init__(self, word: str = "Hello") -> None:
        self.word = word

    def execute(self, name: str) -> str:
        return f"{self.word}, {name}!"
