"""Sources: what a run found and read. Citations are made of these and of nothing else."""

from __future__ import annotations

from outlast.domain.dataclass import dataclass
from outlast.domain.ids import source_key


@dataclass(frozen=True, slots=True)
class Found:
    """An address a search returned: the trail that leads from a source back to the query that found it."""

    url: str
    title: str
    query: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page or file that was read.

    `text_digest` is the sha256 of the text that was read, kept as an artifact of the run: quotes are checked against it.
    `fetched_at` is an ISO 8601 time in UTC.
    """

    url: str
    title: str
    text_digest: str
    fetched_at: str
    media_type: str = "text/plain"

    @property
    def key(self) -> str:
        """The key of this source in the run's ledger."""
        return source_key(self.url)
