"""Reading pages of the web."""

from __future__ import annotations

import asyncio
from typing import Final

from outlast.adapters.search.reading.reader_pool import ReaderPool
from outlast.adapters.search.reading.reading import Reading, Unreadable
from outlast.adapters.search.web.asking import MAX_REDIRECTS, Answer, Asker
from outlast.adapters.search.web.locations import Location
from outlast.adapters.search.web.resolving import Resolver, system_resolver
from outlast.adapters.search.web.robots import Robots
from outlast.domain.errors import ToolTrouble
from outlast.ports.search import Page

DEFAULT_MAX_BYTES: Final = 10 * 1024 * 1024


class HttpFetch:
    """Reads `http` and `https` addresses as text: HTML as Markdown, PDF as its text, anything binary as one line that says so.

    `timeout_seconds` bounds a whole fetch, from the first look-up to the last byte turned into text. `max_bytes` bounds the body,
    counted after decoding. Only public addresses are reached, except the `host:port` entries of `allow_hosts` (an entry without
    a port stands for ports 80 and 443). Sites' robots rules are obeyed. `resolve` looks up host names.
    """

    def __init__(
        self,
        timeout_seconds: float = 20.0,
        max_bytes: int = DEFAULT_MAX_BYTES,
        allow_hosts: tuple[str, ...] = (),
        *,
        resolve: Resolver = system_resolver,
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._max_bytes = max_bytes
        self._asker = Asker(allow_hosts, resolve)
        self._robots = Robots(self._asker)
        self._readers = ReaderPool(timeout_seconds)

    async def fetch(self, url: str) -> Page:
        """The page at `url`, after at most five redirects, each checked like the first address; see the port.

        Raises ToolTrouble with code `fetch_refused`, `fetch_failed` or `not_found`.
        """
        location = self._asker.location_of(url)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                answer = await self._answer(location)
                _check_status(answer)
                return await self._page(answer)
        except TimeoutError as error:
            raise ToolTrouble(
                "fetch_failed",
                f"{url[:200]!r} was not read within {self._timeout_seconds:g} seconds.",
                "Try again later, or use another source.",
            ) from error

    async def close(self) -> None:
        """Give up connections and child processes. Safe to call twice."""
        self._readers.close()
        await self._asker.close()

    async def _answer(self, location: Location) -> Answer:
        for _ in range(MAX_REDIRECTS + 1):
            await self._robots.check(location)
            answer = await self._asker.ask(location, self._max_bytes)
            if isinstance(answer, Answer):
                return answer
            location = answer
        raise ToolTrouble(
            "fetch_failed", f"The page leads on more than {MAX_REDIRECTS} times.", "Use another source."
        )

    async def _page(self, answer: Answer) -> Page:
        url = str(answer.location.url)
        try:
            reading = await self._readers.read(
                answer.body,
                name=answer.location.url.path,
                url=url,
                media_type=answer.media_type,
                charset=answer.charset,
            )
        except Unreadable as error:
            if error.is_binary:
                return _binary_page(answer, error.reason)
            raise self._unreadable(answer, error) from error
        return self._text_page(answer, reading)

    def _text_page(self, answer: Answer, reading: Reading) -> Page:
        notes = [reading.note]
        if answer.is_cut:
            notes.append(f"response too large: only the first {self._max_bytes:,} bytes were read")
        return Page(
            url=str(answer.location.url),
            title=reading.title,
            text=reading.text,
            media_type=reading.media_type,
            size_bytes=len(answer.body),
            is_cut=answer.is_cut or reading.is_cut,
            note="; ".join(note for note in notes if note),
        )

    def _unreadable(self, answer: Answer, error: Unreadable) -> ToolTrouble:
        address = str(answer.location.url)[:200]
        if answer.is_cut:
            detail = f"{address!r} is larger than {self._max_bytes:,} bytes, and its beginning alone cannot be read."
            return ToolTrouble("fetch_refused", detail, "Use another source.")
        return ToolTrouble(
            "fetch_failed", f"{address!r} gives no text: {error.reason}.", "Use another source."
        )


def _check_status(answer: Answer) -> None:
    address = str(answer.location.url)[:200]
    match answer.status:
        case 200 | 203:
            return
        case 404 | 410:
            raise ToolTrouble(
                "not_found", f"There is no page at {address!r}.", "Check the address, or search again."
            )
        case 401 | 403 | 407 | 451:
            next_step = "It needs rights this run does not have; use another source."
        case 429:
            next_step = "The site asks to be left alone for a while; use another source, or try later."
        case _:
            next_step = "Try again later, or use another source."
    raise ToolTrouble("fetch_failed", f"The server answered {answer.status} for {address!r}.", next_step)


def _binary_page(answer: Answer, label: str) -> Page:
    size = f"{'more than ' if answer.is_cut else ''}{len(answer.body):,} bytes"
    return Page(
        url=str(answer.location.url),
        title=answer.location.url.path.rpartition("/")[2],
        text=f"binary, {size}: {label}. There is no text to read here.",
        media_type=answer.media_type or "application/octet-stream",
        size_bytes=len(answer.body),
        is_cut=answer.is_cut,
        note="binary",
    )
