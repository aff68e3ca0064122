"""Hears of the commits of other processes: a subscription on a connection and in a thread of its own."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from typing import Final

from redis.exceptions import RedisError

from outlast.adapters.stores.redis.address import Address
from outlast.adapters.stores.watches import Watches

_QUIET_SECONDS: Final = 5.0
"""After so long without a word the server is asked for a sign of life; after as long again it is given up."""

_FIRST_PAUSE_SECONDS: Final = 0.05
_LOOK_AGAIN_SECONDS: Final = 1.0
"""How often everyone is woken while nothing can be heard for long."""


class Listener:
    """Touches watches for what others commit. Whoever watches is woken once whenever the subscription was made anew, for
    nobody listened before, and every second or sooner while there is none."""

    def __init__(
        self, address: Address, channel: bytes, watches: Watches, is_own: Callable[[str], bool]
    ) -> None:
        self._connection = address.connection(_QUIET_SECONDS)
        self._channel = channel
        self._watches = watches
        self._is_own = is_own
        self._ended = threading.Event()
        self._pause_seconds = _FIRST_PAUSE_SECONDS
        self._gate = threading.Lock()
        self._is_started = False
        self._thread = threading.Thread(target=self._run, name="outlast-store-listener", daemon=True)

    def start(self) -> None:
        """Listen from now on. Harmless when it does."""
        with self._gate:
            if not self._is_started and not self._ended.is_set():
                self._is_started = True
                self._thread.start()

    def stop(self) -> None:
        """End the thread, which may take as long as a connection takes to fail."""
        with self._gate:
            self._ended.set()
        if not self._is_started:
            return
        with contextlib.suppress(RedisError, OSError):
            if self._connection.is_connected:
                self._connection.send_command("UNSUBSCRIBE")  # its answer wakes the thread
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._ended.is_set():
                with contextlib.suppress(RedisError, OSError):
                    self._listen()
                self._watches.touch_all()
                self._ended.wait(self._pause_seconds)
                self._pause_seconds = min(2 * self._pause_seconds, _LOOK_AGAIN_SECONDS)
        finally:
            self._connection.disconnect()

    def _listen(self) -> None:
        self._connection.disconnect()
        self._connection.connect()
        self._connection.send_command("SUBSCRIBE", self._channel)
        while not self._ended.is_set():
            if not self._connection.can_read(timeout=_QUIET_SECONDS):
                self._connection.send_command("PING")
            self._hear(self._connection.read_response())

    def _hear(self, reply: object) -> None:
        match reply:
            case [b"subscribe", *_]:
                self._pause_seconds = _FIRST_PAUSE_SECONDS
                self._watches.touch_all()
            case [b"message", _, bytes(message)] if message:
                self._pass_on(message)

    def _pass_on(self, message: bytes) -> None:
        match _words(message):
            case [origin, *topics] if not self._is_own(origin):
                self._watches.touch(topics)
            case []:
                self._watches.touch_all()  # it is not of this program, and may mean anything


def _words(message: bytes) -> list[str]:
    """A message as the commit script was given it: the writer and the topics; empty for any other."""
    try:
        found = json.loads(message)
    except ValueError:
        return []
    is_ours = isinstance(found, list) and len(found) > 1 and all(isinstance(word, str) for word in found)
    return found if is_ours else []
