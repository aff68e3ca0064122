"""What a site lets programs read (robots.txt, RFC 9309)."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Final

from protego import Protego

from outlast.adapters.search.reading.charset import decode
from outlast.adapters.search.web.asking import MAX_REDIRECTS, USER_AGENT_NAME, Answer, Asker
from outlast.adapters.search.web.locations import Location
from outlast.domain.errors import ToolTrouble

_MAX_RULES_BYTES: Final = 512 * 1024
_KEPT_SECONDS: Final = 3600.0
_MAX_SITES: Final = 256


class Robots:
    """Asks each site once an hour which of its pages may be read, and refuses the others."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._rules: OrderedDict[str, tuple[float, Protego]] = OrderedDict()

    async def check(self, location: Location) -> None:
        """Return if the page may be read.

        Raises ToolTrouble: `fetch_refused` when the site's rules forbid it, `fetch_failed` when they cannot be read now. A
        site without rules allows everything.
        """
        rules = self._kept(location.origin)
        if rules is None:
            rules = await self._read(location)
            self._keep(location.origin, rules)
        if not rules.can_fetch(str(location.url), USER_AGENT_NAME):
            raise ToolTrouble(
                "fetch_refused",
                f"The rules of {location.origin} (robots.txt) forbid programs to read {str(location.url)[:200]!r}.",
                "Use another source; a person may open this page and pass on what it says.",
            )

    async def _read(self, location: Location) -> Protego:
        answer = await self._answer(self._asker.location_of(f"{location.origin}/robots.txt"))
        if answer is not None and answer.status >= 500:
            raise ToolTrouble(
                "fetch_failed",
                f"{location.origin} cannot say now what may be read (robots.txt answers {answer.status}).",
                "Try again later, or use another source.",
            )
        is_found = answer is not None and answer.status < 300
        return Protego.parse(decode(answer.body)[0] if answer is not None and is_found else "")

    async def _answer(self, place: Location) -> Answer | None:
        """None when the redirects never end; that counts as no rules."""
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._asker.ask(place, _MAX_RULES_BYTES)
            if isinstance(answer, Answer):
                return answer
            place = answer
        return None

    def _kept(self, origin: str) -> Protego | None:
        read_at, rules = self._rules.get(origin, (0.0, None))
        return rules if rules is not None and time.monotonic() - read_at < _KEPT_SECONDS else None

    def _keep(self, origin: str, rules: Protego) -> None:
        self._rules[origin] = (time.monotonic(), rules)
        self._rules.move_to_end(origin)
        while len(self._rules) > _MAX_SITES:
            self._rules.popitem(last=False)
