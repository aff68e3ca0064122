"""What is printed: data to stdout, everything else to stderr, and nothing that could command a terminal."""

from __future__ import annotations

import json
import re
import sys
from typing import Any, Final

# Control characters, and those that reorder or hide text: they come from pages, models and tools nobody has checked.
_COMMANDING: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def prepare_streams() -> None:
    """Let no character stop a print, whatever the encoding of the terminal."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def visible(text: str) -> str:
    """`text` without characters that command a terminal; line breaks and tabs stay."""
    return _COMMANDING.sub("\ufffd", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """`text` on one line, without characters that command a terminal."""
    return visible(" ".join(text.split()))


def out(text: str) -> None:
    """Print data for people."""
    sys.stdout.write(visible(text).rstrip("\n") + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Print a remark to stderr."""
    sys.stderr.write(visible(text) + "\n")
    sys.stderr.flush()


def document(value: Any) -> None:
    """Print one JSON document."""
    sys.stdout.write(_spelled(json.dumps(value, ensure_ascii=False, indent=2)) + "\n")
    sys.stdout.flush()


def json_line(value: Any) -> None:
    """Print one line of JSON."""
    sys.stdout.write(_spelled(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) + "\n")
    sys.stdout.flush()


def _spelled(text: str) -> str:
    """JSON whose characters that command a terminal are spelled out; it means the same."""
    return _COMMANDING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def for_run(text: str, run_id: str) -> str:
    """`text` with the run's id where `RUN` stands for it."""
    return re.sub(r"\bRUN\b", run_id, text)
