"""What the verbs of a store cost its server: seconds of CPU by kind of request, at many requests and with one user and many.

`server` takes the CPU of a server's processes, `here` that of this process, for a store that has none. Requests of many clients
that share a turn of the server's loop, as those of Redis do, are asked `together`.
"""

import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path

from bench.probes.stores import opened
from bench.servers import cpu_seconds
from bench.work import arguments, emit, tool_result
from outlast.ports.batch import Item
from outlast.ports.queue import Claim, Enqueue, Release, Shares
from outlast.ports.store import Store
from outlast.ports.stream import Append, EventRow

LEASE_SECONDS = 600.0
HELD, MANY, USERS, LISTENERS = 32, 400, 400, 24

Ask = Callable[[int], Awaitable[object]]


class Meter:
    """Measures requests on one store by the CPU that they take somewhere."""

    def __init__(self, store: Store, used: Callable[[], float], together: int) -> None:
        self.store = store
        self._used = used
        self._together = together

    async def of(self, ask: Ask, times: int) -> float:
        """CPU seconds of one of many requests, `together` at a time."""
        before = self._used()
        for first in range(0, times, self._together):
            await asyncio.gather(*map(ask, range(first, min(times, first + self._together))))
        return (self._used() - before) / times

    async def enqueue(self, items: Sequence[tuple[str, str]], seconds: float, queue: str = "runs") -> None:
        """Have entries due after that many seconds; an item and a user each."""
        due_at = await self.store.now() + timedelta(seconds=seconds)
        for first in range(0, len(items), 50):
            batch: list[Item] = [
                Enqueue(queue, item, due_at, user) for item, user in items[first : first + 50]
            ]
            await self.store.commit(batch)

    async def claims(self, queue: str, users: int, limit: int) -> float:
        """One claim of `limit` entries among those of some users, all of them due."""
        times = max(8, MANY // limit // (1 + users // 100))
        await self.enqueue([(f"{queue}{n}", f"u{n % users}") for n in range(times * limit + users)], 0, queue)

        async def ask(_: int) -> None:
            taken = await self.store.claim(queue, "w", LEASE_SECONDS, limit=limit, shares=Shares())
            assert len(taken) == limit

        return await self.of(ask, times)


async def of_claims(meter: Meter) -> dict[str, float]:
    """A claim, each entry it takes, each user who has something due or waiting."""
    one, many = await meter.claims("one", 1, 1), await meter.claims("many", 1, 32)
    due = await meter.claims("due", USERS, 1)
    await meter.enqueue([(f"w{n}", f"w{n}") for n in range(USERS)], 86_400, "waiting")

    async def ask(_: int) -> None:
        assert not await meter.store.claim("waiting", "w", LEASE_SECONDS, limit=1, shares=Shares())

    nothing = await meter.of(ask, 200)
    entry = (many - one) / 31
    base = max(one - entry, 0.0)
    return {
        "claim": base,
        "claim_entry": entry,
        "claim_user_due": max(due - one, 0.0) / USERS,
        "claim_user_waiting": max(nothing - base, 0.0) / USERS,
    }


async def of_leases(meter: Meter) -> dict[str, float]:
    """A commit under a lease, a renewal and each lease of it, a look for what is due, a journal that is read."""
    store = meter.store
    await meter.enqueue([(f"h{n}", "ann") for n in range(HELD)], 0, "held")
    held = await store.claim("held", "w", LEASE_SECONDS, limit=HELD)
    assert len(held) == HELD
    now = await store.now()

    def append(claim: Claim, text: str) -> Append:
        return Append(claim.item, None, (EventRow(1, "tool", 1, now, text),), claim.generation, "held")

    body = f'{{"text": "{tool_result(1)}"}}'
    found = {"commit": await meter.of(lambda n: store.commit([append(held[n % HELD], body)]), MANY)}
    one = await meter.of(lambda n: store.renew([held[n % HELD]], LEASE_SECONDS), MANY)
    every = await meter.of(lambda _: store.renew(held, LEASE_SECONDS), MANY // 8)
    found["renew_lease"] = max(every - one, 0.0) / (HELD - 1)
    found["renew"] = max(one - found["renew_lease"], 0.0)
    found["look"] = await meter.of(lambda _: _look(store), MANY)
    found["read"] = await meter.of(lambda n: store.read_events(held[n % HELD].item, 0, 20), MANY)
    found["release"] = await meter.of(
        lambda n: store.commit([Release("held", held[n].item, held[n].generation, None)]), HELD
    )
    return found


async def _look(store: Store) -> None:
    await store.next_due("held")
    await store.now()


async def of_notices(meter: Meter, url: str, directory: Path) -> float:
    """What each listener adds to a commit that makes something due."""
    due_at = await meter.store.now() + timedelta(days=1)

    async def ask(number: int) -> None:
        await meter.store.commit([Enqueue("heard", f"n{number}", due_at - timedelta(seconds=number), "ann")])

    alone = await meter.of(ask, 200)
    listeners = [await opened(url, directory) for _ in range(LISTENERS)]
    watches = [listener.watch(["queue:heard"]) for listener in listeners]
    await meter.store.commit([Enqueue("heard", "first", due_at, "ann")])
    await asyncio.gather(*[watch.wait(5) for watch in watches])
    heard = await meter.of(ask, 200)
    for watch, listener in zip(watches, listeners, strict=True):
        watch.stop()
        await listener.close()
    return max(heard - alone, 0.0) / LISTENERS


def sync_seconds(directory: Path) -> float:
    """The median of making 8 KiB durable in a file."""
    times = []
    with (directory / "sync").open("wb", buffering=0) as file:
        for _ in range(100):
            file.write(b"x" * 8192)
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - started)
    return statistics.median(times)


async def main() -> None:
    asked = arguments(__doc__, ("server", "here"), pid=0, together=1)
    store = await opened(asked.url, None if asked.mode == "here" else asked.directory)
    used = time.process_time if asked.mode == "here" else lambda: cpu_seconds(asked.pid)
    meter = Meter(store, used, asked.together)
    found = {"sync": sync_seconds(asked.directory)}
    found |= await of_leases(meter)
    found |= await of_claims(meter)
    found["hear"] = 0.0 if asked.mode == "here" else await of_notices(meter, asked.url, asked.directory)
    await store.close()
    emit(found)


if __name__ == "__main__":
    asyncio.run(main())
