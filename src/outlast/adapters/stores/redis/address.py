"""Where the server is, and how a connection to it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol, cast

from redis import connection as vendor
from redis.exceptions import RedisError

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake

_CONNECT_SECONDS = 2.0


class Connection(Protocol):
    """What is used of a connection of redis-py, which does not say its types."""

    @property
    def is_connected(self) -> bool:
        """Is there a socket?"""
        ...

    def connect(self) -> None:
        """Connect and say who we are, unless that is done."""
        ...

    def disconnect(self) -> None:
        """Close the socket, if there is one."""
        ...

    def pack_commands(self, commands: Sequence[Sequence[bytes | str | int]]) -> list[bytes]:
        """The bytes of commands."""
        ...

    def send_packed_command(self, command: list[bytes]) -> None:
        """Send bytes."""
        ...

    def send_command(self, *words: bytes | str) -> None:
        """Send one command."""
        ...

    def can_read(self, timeout: float) -> bool:
        """Is there something to read, or will be within some seconds?"""
        ...

    def read_response(self) -> Any:
        """The next reply; one that is an error is raised."""
        ...


@dataclass(frozen=True, slots=True)
class Address:
    """A server as its URL names it. Printing it shows no password."""

    name: str
    connection_class: Callable[..., object] = field(repr=False)
    options: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, url: str) -> Address:
        """What a URL names: `redis://`, `rediss://` (with TLS) or `unix://`. Raises CallerMistake (`store_url`)."""
        try:
            options = vendor.parse_url(url)  # type: ignore[no-untyped-call]
            connection_class = options.pop("connection_class", vendor.Connection)
            where = options.get("path") or f"{options.get('host', 'localhost')}:{options.get('port', 6379)}"
            found = cls(where, connection_class, options)
            found.connection(1.0)
        except (ValueError, TypeError, RedisError) as error:
            raise CallerMistake(
                "store_url",
                f"The address of the Redis server cannot be read: {error}",
                "Set harness.persistence.url to redis://HOST:PORT/DB, rediss://HOST:PORT/DB or unix:///PATH.",
            ) from error
        return found

    def connection(self, reply_seconds: float) -> Connection:
        """A connection, not yet made, on which a reply is waited for `reply_seconds`.

        It tries nothing again by itself: what was sent twice would be done twice.
        """
        defaults: dict[str, Any] = {
            "socket_timeout": reply_seconds,
            "socket_connect_timeout": min(_CONNECT_SECONDS, reply_seconds),
        }
        fixed = {"protocol": 2, "decode_responses": False, "driver_info": None, "health_check_interval": 0}
        if "path" not in self.options:
            defaults["socket_keepalive"] = True
        return cast("Connection", self.connection_class(**{**defaults, **self.options, **fixed}))
