"""How tools of other servers are called: `server:tool` by people, a name every model provider accepts by models."""

from __future__ import annotations

import re
from typing import Final

from outlast.domain.door import digest_of

SEPARATOR: Final = ":"
"""Between a server and its tool, as tasks and settings write it."""

EVERY: Final = "*"
"""Stands for every tool of a server."""

MOST_CHARACTERS: Final = 64
"""The longest name a provider accepts."""

_JOINT: Final = "__"
_DIGEST_CHARACTERS: Final = 8
_ROOM: Final = MOST_CHARACTERS - _DIGEST_CHARACTERS - 1
_PLAIN_SERVER: Final = re.compile(r"[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*")
_PLAIN_TOOL: Final = re.compile(r"[A-Za-z0-9_-]+")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")


def split_name(name: str) -> tuple[str, str] | None:
    """The server and the tool in `server:tool` (`*` for every tool), or None for a name of another kind."""
    server, separator, tool = name.partition(SEPARATOR)
    return (server, tool) if separator and server and tool else None


def listed_name(server: str, tool: str) -> str:
    """`server:tool`."""
    return f"{server}{SEPARATOR}{tool}"


def model_name(server: str, tool: str) -> str:
    """The name of a server's tool for models: 1 to 64 of `[a-zA-Z0-9_-]`, always the same for the same two.

    It is `server__tool` wherever that is safe, short enough and cannot be read in two ways; else what is left of it, and a digest
    of the two. Different tools have different names but for a collision of the digest, which whoever lists tools must look for.
    """
    joined = f"{server}{_JOINT}{tool}"
    is_plain = _PLAIN_SERVER.fullmatch(server) and _PLAIN_TOOL.fullmatch(tool)
    if is_plain and len(joined) <= MOST_CHARACTERS:
        return joined
    digest = digest_of(listed_name(server, tool))[:_DIGEST_CHARACTERS]
    return f"{_UNSAFE.sub('_', joined)[:_ROOM]}_{digest}"


def may_be_of(server: str, name: str) -> bool:
    """May this be a tool of the server, by either kind of name? Only its list of tools says for sure."""
    return name.startswith((f"{server}{SEPARATOR}", _prefix(server)))


def _prefix(server: str) -> str:
    """What the names for models of all tools of a server begin with."""
    return _UNSAFE.sub("_", f"{server}{_JOINT}")[:_ROOM]
