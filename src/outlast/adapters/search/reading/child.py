"""The process that takes untrusted HTML and PDF apart: `python -m outlast.adapters.search.reading.child`.

Reads frames from stdin, answers each on stdout, ends with its stdin. It bounds its own memory and, for every document, its own
CPU time, so that it ends even when the parent is no longer there to kill it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from typing import Any, Final

from outlast.adapters.search.reading import frames
from outlast.adapters.search.reading.html_pages import html_to_text
from outlast.adapters.search.reading.pdf_files import pdf_to_text
from outlast.adapters.search.reading.reading import Unreadable

_MAX_MEMORY_BYTES: Final = 1536 * 1024 * 1024


def main() -> None:
    """Answer frames until stdin ends."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Whatever a library prints must not end up between two frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while (frame := frames.unpack(sys.stdin.buffer)) is not None:
        header, body = frame
        answer, text = _answer(header, body)
        answers.write(frames.pack(answer, text))
        answers.flush()


def _answer(header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    _bound_cpu(float(header["limit_seconds"]))
    try:
        title, text, note = _convert(header, body)
    except Unreadable as error:
        return {"unreadable": error.reason}, b""
    except MemoryError:
        return {"unreadable": "it needs too much memory to read"}, b""
    except Exception as error:  # noqa: BLE001 - any fault of a parser is this document's fault, not the batch's
        return {"unreadable": f"it cannot be read ({type(error).__name__})"}, b""
    return {"title": title, "note": note}, text.encode("utf-8", "replace")


def _convert(header: dict[str, Any], body: bytes) -> tuple[str, str, str]:
    if header["kind"] == "pdf":
        return pdf_to_text(body, int(header["max_pages"]))
    title, text = html_to_text(body.decode("utf-8", "replace"), str(header["url"]))
    return title, text, ""


def _bound_cpu(limit_seconds: float) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = usage.ru_utime + usage.ru_stime
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used + limit_seconds) + 1, hard))


if __name__ == "__main__":
    main()
