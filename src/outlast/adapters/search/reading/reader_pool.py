"""Reading documents from the event loop, several at once."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from outlast.adapters.search.reading.document import read_document
from outlast.adapters.search.reading.reader_process import ReaderProcess
from outlast.adapters.search.reading.reading import Reading, Unreadable

_MAX_AT_ONCE: Final = 4


class ReaderPool:
    """Reads documents in threads and child processes of its own; children are kept for the next document."""

    def __init__(self, limit_seconds: float) -> None:
        self._limit_seconds = limit_seconds
        self._idle: list[ReaderProcess] = []
        self._threads = ThreadPoolExecutor(max_workers=_MAX_AT_ONCE, thread_name_prefix="reading")

    async def read(self, data: bytes, *, name: str, url: str, media_type: str, charset: str) -> Reading:
        """As read_document. A cancelled call ends its child process at once. Raises Unreadable."""
        reader = self._idle.pop() if self._idle else ReaderProcess(self._limit_seconds)
        work = partial(
            read_document, data, reader, name=name, url=url, media_type=media_type, charset=charset
        )
        try:
            reading = await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except Unreadable:
            self._idle.append(reader)
            raise
        except BaseException:
            reader.kill()
            raise
        self._idle.append(reader)
        return reading

    def close(self) -> None:
        """End the child processes. Safe to call twice."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        while self._idle:
            self._idle.pop().close()
