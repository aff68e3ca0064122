"""`corpus://relative/path`: how documents of the folder are named to the outside."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

from outlast.domain.errors import ToolTrouble

SCHEME: Final = "corpus://"

_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]")
_NOT_IN_AN_ADDRESS = re.compile(r"[\x00-\x20\x7f\"#%()<>?\[\\\]^`{|}]")


def address_of(path: str) -> str:
    """The address of the document at `path`, relative to the folder, with `/` between its parts.

    Letters of any script stay readable; what would end an address in prose or Markdown is percent-encoded.
    """
    return SCHEME + _NOT_IN_AN_ADDRESS.sub(lambda found: quote(found.group()), path)


def path_of(address: str) -> str:
    """The relative path an address names; it is decoded once, and a `#fragment` is dropped.

    Raises ToolTrouble (`fetch_refused`) for another scheme and for a path that is absolute, leaves the folder or has control
    characters or backslashes in it.
    """
    if not address.lower().startswith(SCHEME):
        raise _refused(address, "it is not a corpus address")
    path = unquote(address[len(SCHEME) :].split("#", 1)[0])
    if _UNSAFE.search(path):
        raise _refused(address, "it has control characters or backslashes in it")
    if path.startswith("/") or any(part in {"", ".", ".."} for part in path.split("/")):
        raise _refused(address, "it leaves the corpus or has empty parts")
    return path


def _refused(address: str, reason: str) -> ToolTrouble:
    return ToolTrouble(
        "fetch_refused",
        f"The address {address[:200]!r} is refused: {reason}.",
        "Use an address exactly as web_search returned it, such as corpus://folder/name.md.",
    )
