"""A child process that converts documents one after another, and is killed when one takes too long."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from typing import IO, Final

from outlast.adapters.search.reading import frames
from outlast.adapters.search.reading.reading import Unreadable

MAX_PDF_PAGES: Final = 300
_KEPT_ENVIRONMENT: Final = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONHOME", "TMPDIR")


class ReaderProcess:
    """Converts HTML and PDF in a child that can be killed.

    The child is started by the first document and again after it died. One caller at a time. Blocking: call it from a thread.
    """

    def __init__(self, limit_seconds: float = 20.0, max_pages: int = MAX_PDF_PAGES) -> None:
        self._limit_seconds = limit_seconds
        self._max_pages = max_pages
        self._child: subprocess.Popen[bytes] | None = None
        self._is_over = False
        self._lock = threading.Lock()

    def convert(self, kind: str, data: bytes, url: str = "") -> tuple[str, str, str]:
        """The title, text and note of an HTML (in UTF-8) or PDF document.

        Raises Unreadable when it cannot be read, or not within the limit.
        """
        deadline = time.monotonic() + self._limit_seconds
        request = {
            "kind": kind,
            "url": url,
            "max_pages": self._max_pages,
            "limit_seconds": self._limit_seconds,
        }
        child = self._running_child()
        try:
            answer = _exchange(child, frames.pack(request, data), deadline)
        except TimeoutError:
            self.close()
            raise Unreadable(
                f"it took longer than {self._limit_seconds:g} seconds to read", is_passing=True
            ) from None
        except (OSError, ValueError):
            self.close()
            raise Unreadable("the process that reads it died over it", is_passing=True) from None
        header, text = answer
        if "unreadable" in header:
            raise Unreadable(str(header["unreadable"]))
        return str(header["title"]), text.decode("utf-8", "replace"), str(header["note"])

    def kill(self) -> None:
        """End a conversion from another thread, for good: the one under way and all later ones raise Unreadable."""
        with self._lock:
            self._is_over = True
            if self._child is not None and self._child.poll() is None:
                os.killpg(self._child.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the child. Only from the thread that converts, or when none does. Safe to call twice."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            _end(child)

    def _running_child(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_over:
                raise Unreadable("reading was ended", is_passing=True)
            if self._child is not None and self._child.poll() is not None:
                _end(self._child)
                self._child = None
            self._child = self._child or _start()
            return self._child


def _start() -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "outlast.adapters.search.reading.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        env=environment,
        start_new_session=True,
    )


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()


def _exchange(
    child: subprocess.Popen[bytes], request: bytes, deadline: float
) -> tuple[dict[str, object], bytes]:
    assert child.stdin is not None
    assert child.stdout is not None
    _write_all(child.stdin, request, deadline)
    answer = frames.unpack(_BoundedReader(child.stdout, deadline))
    if answer is None:
        raise ValueError("the child ended without an answer")
    return answer


def _write_all(pipe: IO[bytes], data: bytes, deadline: float) -> None:
    os.set_blocking(pipe.fileno(), False)
    rest = memoryview(data)
    while rest:
        _wait([], [pipe], deadline)
        written = pipe.write(rest[: 1 << 16])
        rest = rest[written or 0 :]


class _BoundedReader:
    """Reads exactly what is asked for, until the deadline."""

    def __init__(self, pipe: IO[bytes], deadline: float) -> None:
        self._pipe = pipe
        self._deadline = deadline

    def read(self, size: int, /) -> bytes:
        parts: list[bytes] = []
        while size > 0:
            _wait([self._pipe], [], self._deadline)
            part = os.read(self._pipe.fileno(), min(size, 1 << 16))
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _wait(readable: list[IO[bytes]], writable: list[IO[bytes]], deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0 or not any(select.select(readable, writable, [], left)[:2]):
        raise TimeoutError
