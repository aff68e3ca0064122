"""A process that appends to streams of a store and says on stdout what was committed: `STREAM POSITION`.

Run as: appender.py PLACE COUNT STREAM... (PLACE: a file, or the URL of a PostgreSQL server; COUNT 0: until killed).
"""

import asyncio
import itertools
import sys
from pathlib import Path

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.ports.batch import Committed
from outlast.ports.queue import Enqueue
from outlast.ports.store import Store
from outlast.ports.stream import Append, EventRow, PutPayload


async def append_to(store: Store, stream: str, count: int) -> None:
    """Batches of an event, a payload and an entry, each at the position the last one left."""
    head = await store.read_head(stream)
    for position in itertools.islice(itertools.count(head + 1), count or None):
        event = EventRow(position, "Noted", 1, await store.now(), f'{{"text":"{"x" * 600}"}}')
        answer = await store.commit(
            [
                Append(stream, position - 1, (event,)),
                PutPayload(stream, f"{stream}-{position}", b"y" * 2000),
                Enqueue("runs", stream, event.at, "ann", str(position)),
            ]
        )
        assert answer == Committed(), answer
        sys.stdout.write(f"{stream} {position}\n")
        sys.stdout.flush()


async def main(place: str, count: str, *streams: str) -> None:
    store = PostgresStore(place) if "://" in place else SqliteStore(Path(place))
    await store.open()
    await asyncio.gather(*[append_to(store, stream, int(count)) for stream in streams])
    await store.close()


asyncio.run(main(*sys.argv[1:]))
