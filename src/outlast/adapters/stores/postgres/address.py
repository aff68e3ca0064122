"""Where the server is, and what the address says beside it."""

from __future__ import annotations

import re
from dataclasses import field
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_DIRECT = re.compile(r"(?P<host>[^:/@\s]+|\[[0-9a-fA-F:.]+\]):(?P<port>\d{1,5})")
_OURS = frozenset({"schema", "pooler", "direct", "connections"})


@dataclass(frozen=True, slots=True)
class Address:
    """A server and the schema that holds the tables.

    `is_pooled` says that a transaction pooler stands between, so that nothing may be left on a connection from one transaction
    to the next. `direct` is a way around it (host and port), for hearing of commits. `connections` bounds what a process opens
    for its work in each loop that has connections of its own, beside one to listen.
    """

    dsn: str = field(repr=False)
    shown: str
    schema: str = "outlast"
    is_pooled: bool = False
    direct: tuple[str, int] | None = None
    connections: int = 4

    @property
    def can_listen(self) -> bool:
        """Can a connection be had that hears of commits?"""
        return not self.is_pooled or self.direct is not None


def read_address(url: str) -> Address:
    """What a URL says: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`, with these parameters of ours beside the server's own.

    `schema` (outlast), `connections` (4, 1 to 64), `pooler=transaction`, `direct=HOST:PORT`. Raises CallerMistake
    (`store_url`); no message repeats a password.
    """
    try:
        parts = urlsplit(url)
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        port = parts.port
    except ValueError as error:
        raise _bad("it is not a URL") from error
    if parts.scheme not in ("postgres", "postgresql"):
        raise _bad(f"it begins with {parts.scheme[:20] or 'no scheme'}")
    ours = {name: value for name, value in given if name in _OURS}
    theirs = urlencode([(name, value) for name, value in given if name not in _OURS])
    return Address(
        dsn=urlunsplit(SplitResult(parts.scheme, parts.netloc, parts.path, theirs, "")),
        shown=_shown(parts.hostname or dict(given).get("host", ""), port, parts.path),
        schema=_schema(ours.get("schema", "outlast")),
        is_pooled=_is_pooled(ours.get("pooler", "none")),
        direct=_direct(ours.get("direct")),
        connections=_connections(ours.get("connections", "4")),
    )


def _shown(host: str, port: int | None, path: str) -> str:
    where = host or "localhost"
    return f"{where}:{port}{path}" if port else f"{where}{path}"


def _schema(name: str) -> str:
    if not _SCHEMA.fullmatch(name) or name.startswith("pg_"):
        raise _bad("its schema is not a plain name of lower-case letters, digits and _, 40 at most")
    return name


def _is_pooled(name: str) -> bool:
    if name not in ("none", "session", "transaction"):
        raise _bad("its pooler is neither none, session nor transaction")
    return name == "transaction"


def _direct(place: str | None) -> tuple[str, int] | None:
    if place is None:
        return None
    found = _DIRECT.fullmatch(place)
    if found is None:
        raise _bad("its direct is not HOST:PORT")
    return found["host"].strip("[]"), int(found["port"])


def _connections(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise _bad("its connections are not a number from 1 to 64")
    return int(text)


def _bad(why: str) -> CallerMistake:
    return CallerMistake(
        "store_url",
        f"The address of the postgres store cannot be used: {why}.",
        "Write harness.persistence.url as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, from an environment variable.",
    )
