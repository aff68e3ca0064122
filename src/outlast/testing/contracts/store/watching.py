"""Watches: a commit is heard of soon, by whichever process it was made."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from outlast.ports.batch import Guard, Refused
from outlast.ports.queue import Enqueue, Release
from outlast.ports.store import Store
from outlast.testing.contracts.store.samples import append, put, take

_SOON_SECONDS = 10.0
_HOUR = timedelta(hours=1)


@pytest.mark.asyncio
class WatchContract:
    """What is promised of watches."""

    async def test_a_commit_wakes_who_watches_its_stream(self, store: Store) -> None:
        """While waiting, and each time anew."""
        watch = store.watch(["q", "r"])
        for position in range(3):
            waiting = asyncio.create_task(watch.wait(_SOON_SECONDS))
            await asyncio.sleep(0)
            await put(store, append("r", position))
            assert await waiting
        watch.stop()

    async def test_a_commit_before_the_wait_is_remembered(self, store: Store) -> None:
        """Watch, look, wait: what comes between the look and the wait is not missed."""
        watch = store.watch(["r"])
        await put(store, append("r", 0))
        assert await watch.wait(_SOON_SECONDS)
        watch.stop()

    async def test_a_signal_wakes_who_watches_for_signals(self, store: Store, other: Store) -> None:
        """An append without a generation, under the topic `signals:STREAM`, of whichever handle."""
        watch = store.watch(["signals:r"])
        for position, handle in enumerate([store, other]):
            while await watch.wait(0.1):  # nothing is pending now
                pass
            await put(handle, append("r", position))
            assert await watch.wait(_SOON_SECONDS)
        watch.stop()

    async def test_an_enqueue_wakes_who_watches_its_queue(self, store: Store) -> None:
        """Under the topic `queue:NAME`."""
        watch = store.watch(["queue:runs"])
        await put(store, Enqueue("runs", "r", await store.now(), "ann"))
        assert await watch.wait(_SOON_SECONDS)
        watch.stop()

    async def test_a_release_wakes_who_watches_its_queue_unless_it_is_quiet(
        self, store: Store, other: Store
    ) -> None:
        """One that is due at once or later, whichever handle it is of; a quiet one, and one that rests, are not heard of."""
        now = await store.now()
        await put(store, Enqueue("runs", "r", now, "ann"))
        watches = [handle.watch(["queue:runs"]) for handle in (store, other)]
        releases = [(now, False), (now + _HOUR, False), (now + _HOUR, True), (None, False)]
        for due_at, is_quiet in releases:
            claim = await take(store)
            for watch in watches:
                while await watch.wait(0.1):  # nothing is pending now
                    pass
            await put(store, Release("runs", "r", claim.generation, due_at, "", is_quiet))
            if due_at is not None and not is_quiet:
                assert [await watch.wait(_SOON_SECONDS) for watch in watches] == [True, True]
            else:
                assert not await watches[0].wait(0.2)
            await put(store, Enqueue("runs", "r", now, "ann"))
        for watch in watches:
            watch.stop()

    async def test_another_handle_is_heard(self, store: Store, other: Store) -> None:
        """Streams and queues, again and again."""
        stream, queue = store.watch(["r"]), store.watch(["queue:runs"])
        for position in range(3):
            while await stream.wait(0.1):  # nothing is pending now
                pass
            waiting = asyncio.create_task(stream.wait(_SOON_SECONDS))
            await asyncio.sleep(0)
            await put(other, append("r", position))
            assert await waiting
            while await queue.wait(0.1):
                pass
            await put(other, Enqueue("runs", "r", await other.now(), "ann"))
            assert await queue.wait(_SOON_SECONDS)
        stream.stop()
        queue.stop()

    async def test_everyone_who_watches_is_woken(self, store: Store) -> None:
        """Also by one commit to several topics."""
        watches = [store.watch([topic]) for topic in ("r", "r", "q", "queue:runs")]
        now = await store.now()
        await put(store, append("r", 0), append("q", 0), Enqueue("runs", "r", now, "ann"))
        assert await asyncio.gather(*[watch.wait(_SOON_SECONDS) for watch in watches]) == [True] * 4
        for watch in watches:
            watch.stop()

    async def test_a_commit_is_heard_of_without_waiting(self, store: Store, other: Store) -> None:
        """By whichever handle, again and again, also what came before somebody listened; and nothing once the watch is stopped."""
        watch, other_watch = store.watch(["signals:r"]), store.watch(["r"])
        heard = asyncio.Event()
        await put(store, append("r", 0))
        watch.hear(heard.set)
        for position, handle in ((1, store), (2, other), (3, store)):
            await asyncio.wait_for(heard.wait(), _SOON_SECONDS)
            heard.clear()
            await put(handle, append("r", position))
        await asyncio.wait_for(heard.wait(), _SOON_SECONDS)
        watch.stop()
        heard.clear()
        await put(store, append("r", 4))
        assert await other_watch.wait(_SOON_SECONDS)
        assert not heard.is_set()
        other_watch.stop()

    async def test_silence_ends_in_a_timeout(self, store: Store) -> None:
        """A watch may wake without cause, but not for ever; a refused batch is silence."""
        await put(store, append("r", 0))
        watch = store.watch(["r"])
        assert await store.commit([append("r", 0)]) == Refused(Guard.POSITION, 0)
        answers = [await watch.wait(0.05) for _ in range(20)]
        assert not all(answers)
        watch.stop()

    async def test_a_watch_may_be_stopped_twice(self, store: Store) -> None:
        """And the others go on."""
        stopped, going = store.watch(["r"]), store.watch(["r"])
        stopped.stop()
        stopped.stop()
        await put(store, append("r", 0))
        assert await going.wait(_SOON_SECONDS)
        going.stop()
