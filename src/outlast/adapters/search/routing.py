"""One Fetch over several: which one reads an address is decided by its scheme."""

from __future__ import annotations

from outlast.domain.errors import ToolTrouble
from outlast.ports.search import Fetch, Page


class FetchRouter:
    """Reads `corpus://` addresses from `corpus` and web addresses through `http`; what is None is refused, saying why."""

    def __init__(self, corpus: Fetch | None, http: Fetch | None) -> None:
        self._corpus = corpus
        self._http = http

    async def fetch(self, url: str) -> Page:
        """The page at `url`; see the port. Raises ToolTrouble (`fetch_refused`) for an address nothing here reads."""
        address = url.strip()
        scheme = address.partition(":")[0].lower()
        if scheme == "corpus" and self._corpus is not None:
            return await self._corpus.fetch(address)
        if scheme in {"http", "https"} and self._http is not None:
            return await self._http.fetch(address)
        raise _nobody_reads(address, scheme)

    async def close(self) -> None:
        """Close both. Safe to call twice."""
        try:
            if self._corpus is not None:
                await self._corpus.close()
        finally:
            if self._http is not None:
                await self._http.close()


def _nobody_reads(address: str, scheme: str) -> ToolTrouble:
    known = {
        "corpus": "this run has no local corpus",
        "http": "this run works offline and does not read the web",
        "https": "this run works offline and does not read the web",
    }
    reason = known.get(scheme, "only http, https and corpus addresses can be read")
    next_step = "Use an address exactly as web_search returned it."
    return ToolTrouble("fetch_refused", f"The address {address[:200]!r} is refused: {reason}.", next_step)
