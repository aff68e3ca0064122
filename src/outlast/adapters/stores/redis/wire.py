"""One connection to the server: many commands in one go, and patience while the server is away."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from redis.exceptions import NoScriptError, RedisError, ResponseError

from outlast.adapters.stores.redis.address import Address
from outlast.adapters.stores.redis.scripts import Command, in_full
from outlast.adapters.stores.redis.troubles import Lost, is_forbidden, is_passing, refused, unavailable

_FIRST_PAUSE_SECONDS: Final = 0.01
_LONGEST_PAUSE_SECONDS: Final = 0.5


class _Unanswered:
    """Stands for the reply that did not come."""


UNANSWERED: Final = _Unanswered()


class Wire:
    """A connection that is made again after it was lost. `patience_seconds` bounds the wait for one reply."""

    def __init__(self, address: Address, patience_seconds: float) -> None:
        self.name = address.name
        self._connection = address.connection(patience_seconds)
        self._pause_seconds = 0.0

    def reach(self, give_up_at: float) -> None:
        """Connect unless we are. Tries until the monotonic time `give_up_at`; raises Broken (`store_unavailable`).

        What trying again would not change is raised at once.
        """
        while not self._connection.is_connected:
            if self._pause_seconds:
                time.sleep(self._pause_seconds)
            try:
                self._connection.connect()
            except (RedisError, OSError) as error:
                if is_forbidden(error) or (isinstance(error, ResponseError) and not is_passing(error)):
                    raise refused(error, self.name) from error
                self.lose(give_up_at, error)

    def lose(self, give_up_at: float, why: Exception) -> None:
        """Give the connection up and wait a little longer before the next one. Raises Broken after `give_up_at`."""
        self._connection.disconnect()
        self._pause_seconds = min(max(2 * self._pause_seconds, _FIRST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)
        if time.monotonic() + self._pause_seconds > give_up_at:
            raise unavailable(why, self.name) from why

    def ask(self, commands: Sequence[Command], replies: list[Any]) -> None:
        """Send all commands in one go and put the reply to each into `replies`; an error is a reply too.

        Raises Lost when some may be tried again: their replies are UNANSWERED, whether the server has heard of them or not.
        """
        replies[:] = [UNANSWERED] * len(commands)
        self._exchange(commands, range(len(commands)), replies)
        strange = [n for n, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
        if strange:
            for n in strange:
                replies[n] = UNANSWERED
            self._exchange([in_full(commands[n]) for n in strange], strange, replies)
        passing = [
            n for n, reply in enumerate(replies) if isinstance(reply, ResponseError) and is_passing(reply)
        ]
        if passing:
            why = replies[passing[0]]
            for n in passing:
                replies[n] = UNANSWERED
            raise Lost(str(why)) from why
        self._pause_seconds = 0.0

    def close(self) -> None:
        """Disconnect."""
        self._connection.disconnect()

    def _exchange(self, commands: Sequence[Command], places: Sequence[int], replies: list[Any]) -> None:
        connection = self._connection
        try:
            connection.send_packed_command(connection.pack_commands(commands))
            for place in places:
                try:
                    replies[place] = connection.read_response()
                except ResponseError as error:
                    replies[place] = error
        except (RedisError, OSError) as error:
            raise Lost(str(error)) from error
