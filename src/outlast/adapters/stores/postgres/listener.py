"""Hears what other processes commit, on a connection that does nothing else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from outlast.adapters.stores.postgres.channels import Channels
from outlast.adapters.stores.postgres.link import Dialer, Link
from outlast.adapters.stores.postgres.troubles import in_our_words
from outlast.adapters.stores.watches import Watches
from outlast.domain.errors import OutlastError

_ECHO_EVERY_SECONDS: Final = 15.0
_ECHO_SECONDS: Final = 2.0
LOOK_SECONDS: Final = 1.0
"""How often watchers look by themselves while nothing can be heard."""

_FIRST_PAUSE_SECONDS: Final = 0.05


class Listener:
    """Touches watches when something was told of their topics. Everyone is touched once whenever nobody listened before.

    Runs while there is anything to watch, in the loop in which it was made. It calls out to itself by `cry`, on another connection,
    and hears whether it hears: a pooler takes a wish to listen and forgets it. While it does not, and while the server cannot be
    reached, watches are touched every few seconds.
    """

    def __init__(
        self, dialer: Dialer, channels: Channels, watches: Watches, cry: Callable[[Iterable[str]], None]
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self._dialer = dialer
        self._channels = channels
        self._watches = watches
        self._cry = cry
        self._echo_topic = f"echo {channels.teller}"
        self._echo_channel, _ = channels.place(self._echo_topic)
        self._echoed = asyncio.Event()
        self._changed = asyncio.Event()
        self._topics: Mapping[tuple[str, str], str] = {}
        self._task: asyncio.Task[None] | None = None

    def mind(self) -> None:
        """Look at what is watched now. Called from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has been closed
            self.loop.call_soon_threadsafe(self._begin)

    async def stop(self) -> None:
        """Listen no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _begin(self) -> None:
        self._changed.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        pause_seconds = _FIRST_PAUSE_SECONDS
        while self._watches:
            if not self._dialer.address.can_listen:
                pause_seconds = LOOK_SECONDS
            elif await self._listen():
                pause_seconds = _FIRST_PAUSE_SECONDS
            self._watches.touch_all()
            self._changed.clear()
            await self._wait(pause_seconds)
            pause_seconds = min(2 * pause_seconds, LOOK_SECONDS)

    async def _listen(self) -> bool:
        """Listen until the connection is lost or deaf, or nothing is watched. False: there was no connection to be had."""
        link: Link | None = None
        try:
            link = await self._dialer.dial_direct()
            await self._hear(link)
        except Exception as error:
            if not isinstance(in_our_words(error, ""), OutlastError):
                raise
        finally:
            if link is not None:
                link.cut()
        return link is not None

    async def _hear(self, link: Link) -> None:
        link.connection.add_termination_listener(self._wake)
        heard: set[str] = set()
        is_heard_well = False
        while self._watches and not link.is_closed:
            self._changed.clear()
            heard = await self._listen_to_what_is_watched(link, heard)
            if not is_heard_well and not await self._has_echo():
                return
            is_heard_well = await self._wait(_ECHO_EVERY_SECONDS)

    async def _listen_to_what_is_watched(self, link: Link, heard: set[str]) -> set[str]:
        self._topics = {self._channels.place(topic): topic for topic in self._watches.topics()}
        wanted = {channel for channel, _ in self._topics} | {self._echo_channel}
        for channel in wanted - heard:
            await link.connection.add_listener(channel, self._told)
        for channel in heard - wanted:
            await link.connection.remove_listener(channel, self._told)
        self._watches.touch(topic for (channel, _), topic in self._topics.items() if channel not in heard)
        return wanted

    async def _has_echo(self) -> bool:
        self._echoed.clear()
        self._cry([self._echo_topic])
        try:
            async with asyncio.timeout(_ECHO_SECONDS):
                await self._echoed.wait()
        except TimeoutError:
            return False
        return True

    async def _wait(self, seconds: float) -> bool:
        """Did anything change within this time?"""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _wake(self, _connection: Any) -> None:
        self._changed.set()

    def _told(self, _connection: Any, _pid: int, channel: str, text: str) -> None:
        if channel == self._echo_channel:
            self._echoed.set()
            return
        teller, _, name = text.partition(" ")
        topic = self._topics.get((channel, name))
        if topic is not None and teller != self._channels.teller:
            self._watches.touch([topic])
