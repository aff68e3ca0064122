"""One connection to the server, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import asyncpg

from outlast.adapters.stores.postgres.address import Address
from outlast.adapters.stores.postgres.deadline import Deadline
from outlast.adapters.stores.postgres.queries import in_schema, query
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import Broken

_ABOUT_BACKEND = query("about_backend")
_END_BACKEND = query("end_backend")

OLDEST_SERVER: Final = 130000
"""PostgreSQL 13, by its own way of counting."""

_CONNECT_SECONDS: Final = 5.0
_NOT_DURABLE = "off"


@dataclass(frozen=True, slots=True)
class Backend:
    """The process of the server behind a connection; the time tells it from a later one of the same number."""

    pid: int
    started_at: datetime


class Link:
    """A connection that runs our queries in our schema. Used by one task at a time, in the loop that made it.

    It is cut when an answer takes longer than `answer_seconds`, and its backend is told to `on_miss`, since it goes on with what it
    was asked. `backend` is None behind a pooler, where the next transaction may have another.
    """

    def __init__(
        self,
        connection: Any,
        address: Address,
        count: Callable[[], None],
        answer_seconds: float,
        on_miss: Callable[[Backend], None] | None = None,
    ) -> None:
        self.connection = connection
        self.backend: Backend | None = None
        self.version = ""
        self._count = count
        self._schema = address.schema
        self._on_miss = on_miss
        self._deadline = Deadline(answer_seconds, self._miss)

    async def rows(self, text: str, *arguments: object) -> Sequence[Any]:
        """The rows of one query, which is a transaction of its own."""
        self._ask()
        try:
            found: Sequence[Any] = await self.connection.fetch(in_schema(text, self._schema), *arguments)
        finally:
            self._deadline.end()
        return found

    async def row(self, text: str, *arguments: object) -> Any | None:
        """The first row, if there is one."""
        found = await self.rows(text, *arguments)
        return found[0] if found else None

    async def value(self, text: str, *arguments: object) -> Any:
        """The first column of the first row; None without a row."""
        found = await self.rows(text, *arguments)
        return found[0][0] if found else None

    async def changes(self, text: str, *arguments: object) -> bool:
        """Did one query change any row? It is a transaction of its own, and returns no rows: what would be read of them is saved."""
        self._ask()
        try:
            told: str = await self.connection.execute(in_schema(text, self._schema), *arguments)
        finally:
            self._deadline.end()
        return not told.endswith(" 0")

    async def many(self, text: str, arguments: Sequence[Sequence[object]]) -> None:
        """Run one query for each of several lists of arguments, all of them or none."""
        self._ask()
        try:
            await self.connection.executemany(in_schema(text, self._schema), arguments)
        finally:
            self._deadline.end()

    async def ends(self, backend: Backend) -> bool:
        """Is another backend still there? If so it is told to end."""
        return bool(await self.rows(_END_BACKEND, backend.pid, backend.started_at))

    @property
    def is_closed(self) -> bool:
        """Has either side ended it?"""
        closed: bool = self.connection.is_closed()
        return closed

    async def close(self) -> None:
        """End it in peace, or at once when the server does not answer."""
        self._deadline.stop()
        try:
            await self.connection.close(timeout=2)
        except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            self.cut()

    def cut(self) -> None:
        """End it at once, whatever is under way."""
        self._deadline.stop()
        self.connection.terminate()

    def _miss(self) -> None:
        self.cut()
        if self._on_miss is not None and self.backend is not None:
            self._on_miss(self.backend)

    def _ask(self) -> None:
        self._count()
        self._deadline.begin()


class Dialer:
    """Makes connections to one address. It learns of a pooler that the address does not mention."""

    def __init__(self, address: Address, answer_seconds: float) -> None:
        self.address = address
        self._answer_seconds = answer_seconds
        self.statements = 0

    async def dial(self, on_miss: Callable[[Backend], None] | None = None) -> Link:
        """A connection for work; `on_miss` as in `Link`.

        Raises what the driver raises, and Broken for a server that cannot keep what it is given.
        """
        return await self._checked(await self._connect(is_pooled=self.address.is_pooled), on_miss)

    def beware_of_pooler(self) -> None:
        """From now on leave nothing on a connection from one transaction to the next."""
        self.address = replace(self.address, is_pooled=True)

    async def dial_direct(self) -> Link:
        """A connection that no pooler stands before, for listening."""
        direct = self.address.direct
        place = {} if direct is None else dict(zip(("host", "port"), direct, strict=True))
        connection = await self._connect(is_pooled=False, command_timeout=self._answer_seconds, **place)
        return self._link(connection)

    async def _connect(self, *, is_pooled: bool, **place: object) -> Any:
        return await asyncpg.connect(
            self.address.dsn,
            timeout=_CONNECT_SECONDS,
            statement_cache_size=0 if is_pooled else 256,
            max_cached_statement_lifetime=0,
            **place,
        )

    async def _checked(self, connection: Any, on_miss: Callable[[Backend], None] | None) -> Link:
        link = self._link(connection, on_miss)
        try:
            found = await link.row(_ABOUT_BACKEND)
            assert found is not None
            _refuse_unfit(found, self.address.shown)
        except BaseException:
            link.cut()
            raise
        link.version = found["version"]
        if not self.address.is_pooled:
            link.backend = Backend(connection.get_server_pid(), found["backend_start"])
        return link

    def _link(self, connection: Any, on_miss: Callable[[Backend], None] | None = None) -> Link:
        return Link(connection, self.address, self._count, self._answer_seconds, on_miss)

    def _count(self) -> None:
        self.statements += 1


def _refuse_unfit(found: Any, where: str) -> None:
    if found["version_number"] < OLDEST_SERVER:
        raise Broken(
            "store_refused",
            f"The server {where} is PostgreSQL {found['version']}; outlast needs 13 or newer.",
            "Upgrade the server, or name another in harness.persistence.url.",
        )
    if found["encoding"] != "UTF8":
        raise Broken(
            "store_refused",
            f"The database {where} holds text as {found['encoding']}; outlast needs UTF8.",
            "Create a database with ENCODING 'UTF8' and name it in harness.persistence.url.",
        )
    if found["synchronous_commit"] == _NOT_DURABLE:
        raise Broken(
            "store_may_lose",
            f"The server {where} answers before a commit is durable (synchronous_commit is off).",
            "Run: ALTER ROLE your_user SET synchronous_commit = on.",
        )
    if found["is_standby"]:
        raise ConnectionError(f"{where} is a standby that only reads")
