"""Where an endpoint is and what opens it: checked before the first call, and never told."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from outlast.domain.errors import CallerMistake

_PATH: Final = "/chat/completions"
_LOOKS_LIKE_A_KEY: Final = re.compile(r"\b(?:sk|pk|gsk|xai|key)-[A-Za-z0-9_*-]{6,}|(?<=Bearer )[^\s\"']+")
_HIDDEN: Final = "***"


def endpoint_url(base_url: str) -> str:
    """The address chat completions are posted to.

    Raises CallerMistake (`invalid_base_url`) unless `base_url` is an http or https address without user name
    and password.
    """
    parts = _parts(base_url.strip())
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise CallerMistake(
            "invalid_base_url",
            "`llm.base_url` is not the address of an HTTP endpoint.",
            "Write it as https://host/v1, and the key as `llm.api_key`.",
        )
    path = parts.path.rstrip("/").removesuffix(_PATH) + _PATH
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def shown_url(url: str) -> str:
    """`url` without its query, which may hold a key."""
    return url.partition("?")[0]


def usable_key(api_key: str) -> str:
    """`api_key` without the white space around it, as files bring it.

    Raises CallerMistake (`invalid_api_key`) if it cannot be sent in a header.
    """
    key = api_key.strip()
    if not all("!" <= character <= "~" for character in key):
        raise CallerMistake(
            "invalid_api_key",
            "`llm.api_key` holds characters that no header can carry (spaces, line ends or letters beyond ASCII).",
            "Copy the key again.",
        )
    return key


def hiding(key: str) -> Callable[[str], str]:
    """A function that hides `key`, and whatever looks like a key, in a text."""

    def hide(text: str) -> str:
        return _LOOKS_LIKE_A_KEY.sub(_HIDDEN, text.replace(key, _HIDDEN) if key else text)

    return hide


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises when it is no number
    except ValueError:
        return None
    return parts
