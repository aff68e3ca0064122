"""What is made sure of before a store is used: a server that is new enough, loses nothing and lets us do our work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from outlast.adapters.stores.redis.scripts import OPEN, Command
from outlast.adapters.stores.redis.troubles import code_of, not_usable, refused
from outlast.adapters.stores.redis.wire import Wire
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import Broken

SCHEMA: Final = 2
"""The shape of the keys that this program reads and writes."""

_OLDEST: Final = (6, 2)

_WANTED: Final = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}
"""What a server must be set to so that a commit that was answered is never lost."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What was found: the kind and version of the server, a warning when it may lose what it has answered, and the version of the
    schema (0: there was none)."""

    server: str
    warning: str | None
    schema: int


def open_store(wire: Wire, root: bytes, *, allow_loss: bool) -> Opened:
    """Make the store ready.

    Raises Broken: `store_may_lose` unless that is allowed, `store_newer`, or `store_refused` for a server that is too old or
    refuses commands.
    """
    told = _ask(wire, ("INFO", "server"))
    server = server_in(told if isinstance(told, bytes) else b"")
    _check_version(wire, told)
    danger = _danger(wire)
    if danger is not None and not allow_loss:
        raise danger
    schema = _checked_schema(wire, _ask(wire, OPEN.call(root, SCHEMA)))
    warning = None if danger is None else f"{danger.detail} harness.persistence.allow_loss accepts that."
    return Opened(f"{server} at {wire.name}", warning, schema)


def server_in(told: bytes) -> str:
    """The kind and version of a server by what it tells of itself; a Valkey also gives the version of Redis it is like."""
    lines = dict(line.split(":", 1) for line in told.decode().splitlines() if ":" in line)
    if "valkey_version" in lines:
        return f"Valkey {lines['valkey_version']}"
    return f"Redis {lines.get('redis_version', 'of unknown version')}"


def _ask(wire: Wire, command: Command) -> Any:
    replies: list[Any] = []
    wire.ask([command], replies)
    return replies[0]


def _check_version(wire: Wire, reply: object) -> None:
    found = re.search(rb"redis_version:(\d+)\.(\d+)", reply) if isinstance(reply, bytes) else None
    if found is not None and tuple(map(int, found.groups())) < _OLDEST:
        version = b".".join(found.groups()).decode()
        raise not_usable(f"it is Redis {version}", wire.name, "Use Redis 6.2 or newer, or Valkey.")


def _danger(wire: Wire) -> Broken | None:
    """Why the server may lose what it has answered; None when it does not."""
    replies: list[Any] = []
    wire.ask([("CONFIG", "GET", name) for name in _WANTED], replies)
    unreadable = next((reply for reply in replies if not isinstance(reply, list) or len(reply) != 2), None)
    if unreadable is not None:
        why = code_of(unreadable) if isinstance(unreadable, Exception) else "it does not tell"
        return Broken(
            "store_may_lose",
            f"The Redis server {wire.name} does not let outlast check that it loses nothing ({why}).",
            f"Make sure of {_settings(_WANTED)}, then let outlast use CONFIG GET or set harness.persistence.allow_loss: true.",
        )
    found = {name: reply[1].decode() for name, reply in zip(_WANTED, replies, strict=True)}
    wrong = {name: value for name, value in found.items() if value != _WANTED[name]}
    if not wrong:
        return None
    return Broken(
        "store_may_lose",
        f"The Redis server {wire.name} may lose what was committed: it is set to {_settings(wrong)}.",
        f"Set {_settings({name: _WANTED[name] for name in wrong})} in its configuration, "
        "or accept losses with harness.persistence.allow_loss: true.",
    )


def _settings(values: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _checked_schema(wire: Wire, reply: Sequence[Any] | Exception) -> int:
    if isinstance(reply, Exception):
        raise refused(reply, wire.name)
    version, hindrance = reply
    if version > SCHEMA:
        raise Broken(
            "store_newer",
            f"The store has schema version {version}, this program knows versions up to {SCHEMA}.",
            "Upgrade outlast to the version that wrote the store, or use another store.",
        )
    if hindrance:
        raise not_usable(
            f"a command is refused: {hindrance.decode()}",
            wire.name,
            "Let this user call every command on the keys and the channel of the store.",
        )
    return int(version)
