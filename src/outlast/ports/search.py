"""The seams to what a run may read: a search, and a fetch of one address."""

from __future__ import annotations

from typing import Protocol

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result: where it is, what it is called, the passage that matches, and a score (higher is better, at least 0)."""

    url: str
    title: str
    snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class Page:
    """A page or file as text. `text` is Markdown where structure is known; `is_cut` says that a limit ended it early."""

    url: str
    title: str
    text: str
    media_type: str
    size_bytes: int
    is_cut: bool = False
    note: str = ""


class Search(Protocol):
    """Finds documents for a query."""

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """At most `limit` hits, best first; an empty list when nothing matches. Any text is a valid query.

        Raises ToolTrouble when the provider cannot be asked.
        """
        ...

    async def close(self) -> None:
        """Give up connections and files. Safe to call twice."""
        ...


class Fetch(Protocol):
    """Reads one address."""

    async def fetch(self, url: str) -> Page:
        """The page at `url`.

        Raises ToolTrouble with code `fetch_refused` (scheme, address or size is not allowed), `fetch_failed` (it could not be
        read now) or `not_found`.
        """
        ...

    async def close(self) -> None:
        """Give up connections. Safe to call twice."""
        ...
