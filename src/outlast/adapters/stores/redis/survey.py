"""What is there: read in pages, so that no single command keeps the server from others for long."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from outlast.adapters.stores.redis.encoding import text
from outlast.adapters.stores.redis.scripts import Command
from outlast.adapters.stores.times import to_micros
from outlast.ports.inventory import Stray

Ask = Callable[[Sequence[Command]], Awaitable[list[Any]]]
"""Sends commands and gives their replies."""

_PAGE: Final = 1000
_GLOB: Final = re.compile(rb"([\\*?\[\]])")


class Survey:
    """Looks at the store whose keys begin with `root`."""

    def __init__(self, ask: Ask, root: bytes) -> None:
        self._ask = ask
        self._root = root

    async def run_ids(self, ended_before: datetime | None) -> list[str]:
        """The ids of runs in the order of their creation; see `Inventory.list_run_ids`."""
        found: list[str] = []
        for start in itertools.count(0, _PAGE):
            [members] = await self._ask([("ZRANGE", self._root + b"runs", start, start + _PAGE - 1)])
            ids = [member[17:] for member in members]
            if ended_before is None:
                found += [run_id.decode() for run_id in ids]
            else:
                found += await self._ended(ids, to_micros(ended_before))
            if len(members) < _PAGE:
                break
        return found

    async def payloads(self, stream: str) -> dict[str, int]:
        """The payloads of a stream with their sizes; -1 for one that is not there."""
        [digests] = await self._ask([("SMEMBERS", self._root + b"payloads_of:" + text(stream))])
        return await self._sizes(sorted(digests))

    async def entries(self, queue: str) -> list[str]:
        """The items of a queue, in order."""
        name = text(queue)
        prefix = self._root + b"entry:%d:%b:" % (len(name), name)
        return sorted([key.removeprefix(prefix).decode() async for key in self._keys(prefix)])

    async def stray(self) -> Stray:
        """See `Inventory.find_stray`."""
        held_by_stray: Counter[bytes] = Counter()
        streams = []
        prefix = self._root + b"payloads_of:"
        async for key in self._keys(prefix):
            stream = key.removeprefix(prefix)
            [head, digests] = await self._ask([("LLEN", self._root + b"events:" + stream), ("SMEMBERS", key)])
            if head == 0:
                streams.append(stream.decode())
                held_by_stray.update(digests)
        prefix = self._root + b"payload:"
        kept = [key.removeprefix(prefix) async for key in self._keys(prefix)]
        holders = await self._holders(kept)
        free = [digest for digest in kept if holders[digest] <= held_by_stray[digest]]
        return Stray(tuple(sorted(streams)), await self._sizes(sorted(free)))

    async def _ended(self, ids: Sequence[bytes], before: int) -> list[str]:
        asked = [("HMGET", self._root + b"run:" + run_id, "is_active", "updated_at") for run_id in ids]
        rows = await self._ask(asked) if asked else []
        return [
            run_id.decode()
            for run_id, (is_active, updated_at) in zip(ids, rows, strict=True)
            if is_active == b"0" and int(updated_at) < before
        ]

    async def _holders(self, digests: Sequence[bytes]) -> dict[bytes, int]:
        """How many streams refer to each payload."""
        found: dict[bytes, int] = {}
        for some in _pages(digests):
            [counts] = await self._ask([("HMGET", self._root + b"payload_references", *some)])
            found |= {digest: int(count or 0) for digest, count in zip(some, counts, strict=True)}
        return found

    async def _sizes(self, digests: Sequence[bytes]) -> dict[str, int]:
        found: dict[str, int] = {}
        for some in _pages(digests):
            keys = [self._root + b"payload:" + digest for digest in some]
            replies = await self._ask([(verb, key) for key in keys for verb in ("EXISTS", "STRLEN")])
            sizes = zip(replies[::2], replies[1::2], strict=True)
            found |= {
                digest.decode(): size if is_there else -1
                for digest, (is_there, size) in zip(some, sizes, strict=True)
            }
        return found

    async def _keys(self, prefix: bytes) -> AsyncIterator[bytes]:
        """Every key that begins so, once."""
        pattern, seen, cursor = _GLOB.sub(rb"\\\1", prefix) + b"*", set[bytes](), b"0"
        while True:
            [[cursor, keys]] = await self._ask([("SCAN", cursor, "MATCH", pattern, "COUNT", _PAGE)])
            for key in keys:
                if key not in seen:
                    seen.add(key)
                    yield key
            if cursor == b"0":
                return


def _pages(digests: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (digests[start : start + _PAGE] for start in range(0, len(digests), _PAGE))
