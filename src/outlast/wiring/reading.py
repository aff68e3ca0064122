"""What a run may read, by configuration: the search, and the fetch of addresses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake
from outlast.ports.search import Fetch, Search
from outlast.wiring.adapters import FETCHES, SEARCHES, symbol
from outlast.wiring.settings.models import search_of
from outlast.wiring.settings.tree import Settings


@dataclass(frozen=True, slots=True)
class Reading:
    """The search and fetch of a run, both None for a task that reads nothing."""

    search: Search | None = None
    fetch: Fetch | None = None

    def problems(self) -> list[str]:
        """A line for each document of a corpus that cannot be read."""
        listed = getattr(self.search, "problems", None)
        return list(listed()) if listed is not None else []

    async def close(self) -> None:
        """Close both."""
        if self.fetch is not None:
            await self.fetch.close()
        if self.search is not None:
            await self.search.close()


async def reading_of(settings: Settings, environ: Mapping[str, str], index: Path | None) -> Reading:
    """The search and fetch that `settings` name, ready to use.

    A corpus is brought up to date first, so that a missing or empty one stops a run before it begins. Raises CallerMistake:
    `corpus_missing`, `corpus_empty`, `not_there_yet`, `missing_variable`.
    """
    wanted = search_of(settings)
    place = SEARCHES.get(wanted.provider)
    if place is None:
        how = (
            "search.provider is"
            if settings.search is not None
            else "Without search:, this configuration searches with"
        )
        detail = f"{how} {wanted.provider}, which this version of outlast does not have yet."
        next_step = "Set search: {provider: corpus, path: FOLDER}, a folder of your documents."
        raise CallerMistake("not_there_yet", detail, next_step)
    corpus = symbol(place)(settings.path(wanted.path, environ), index)
    try:
        await corpus.refresh()
    except BaseException:
        await corpus.close()
        raise
    http = None
    if settings.llm.provider != "offline" or settings.tools.web_fetch.allow_hosts:
        hosts = tuple(host.resolve(environ) for host in settings.tools.web_fetch.allow_hosts)
        http = symbol(FETCHES["http"])(allow_hosts=hosts)
    return Reading(corpus, symbol(FETCHES["routing"])(corpus, http))
