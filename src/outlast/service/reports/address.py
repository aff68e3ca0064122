"""Which addresses may become links, and how text from anywhere is made fit to be shown."""

from __future__ import annotations

import re
from urllib.parse import quote

_LINKABLE = re.compile(r"https?://[^\s/?#]|mailto:[^\s@]+@[^\s@]", re.IGNORECASE)
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_URL_SAFE = "-._~:/?#[]@!$&'()*+,;=%"


def link_to(address: str) -> str | None:
    """`address` as the target of a link, percent-encoded where it must be; None unless it is http, https or mailto."""
    bare = shown(address)
    return quote(bare, safe=_URL_SAFE) if _LINKABLE.match(bare) else None


def host_of(link: str) -> str:
    """Where a link leads: the host of an http link, the mailbox of a mailto link."""
    rest = link.partition(":")[2].lstrip("/")
    return (
        re.split("[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
        if link[:4].casefold() == "http"
        else rest.partition("?")[0]
    )


def shown(text: str) -> str:
    """`text` on one line, without control characters and without marks that turn the direction of what follows."""
    return " ".join(_TURNING.sub("", _UNSEEN.sub(" ", text)).split())


def moment(timestamp: str) -> str:
    """An ISO 8601 time as people read it, to the minute; any other text as it is."""
    match = _MOMENT.match(timestamp)
    return f"{match.group(1)} {match.group(2)} UTC" if match is not None else timestamp


_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)$")
