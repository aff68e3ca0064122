"""Credentials: secrets are told once, kept as digests, and good until they end."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta

import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.redis.scratch import scratch_stores
from outlast.adapters.stores.sqlite.store import SqliteStore
from outlast.domain.access import SCOPES
from outlast.domain.errors import Broken, CallerMistake, NotFound
from outlast.journal.access import ACCESS
from outlast.ports.store import Store
from outlast.ports.stream import Append, EventRow
from outlast.service.access import Grant, Register, issue, list_tokens, note_use, open_session, revoke
from outlast.testing.contracts.store import MakeStore
from outlast.testing.servers.redis import RedisServer, find_binary


@pytest.fixture(scope="module")
def redis_stores() -> Iterator[Callable[[], MakeStore]]:
    with RedisServer(find_binary("valkey")) as server, scratch_stores(server.url) as new_storage:
        yield new_storage


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def closed_store(request: pytest.FixtureRequest) -> Store:
    if request.param == "postgres":
        return PostgresStore(request.getfixturevalue("postgres_store_url"))
    if request.param == "redis":
        made: Store = request.getfixturevalue("redis_stores")()()
        return made
    return SqliteStore(None)


@pytest.fixture
async def store(closed_store: Store) -> AsyncIterator[Store]:
    await closed_store.open()
    yield closed_store
    await closed_store.close()


def random() -> bytes:
    return secrets.token_bytes(40)


async def test_token_is_found_by_its_secret_and_nothing_stored_tells_the_secret(store: Store) -> None:
    issued = await issue(store, Grant(user_id="ann", scopes=("write", "read"), label="laptop"), random())
    found = (await Register(store).refresh()).find(issued.secret)
    assert found is not None
    assert (found.issued.user_id, found.issued.scopes) == ("ann", ("read", "write"))
    stored = "".join(row.body for row in await store.read_events(ACCESS))
    assert issued.secret not in stored
    assert (await Register(store).refresh()).find(issued.secret + "x") is None


async def test_revoked_token_and_the_sessions_it_opened_are_good_for_nothing(store: Store) -> None:
    token, register = await issue(store, Grant(user_id="ann"), random()), Register(store)
    session = await open_session(store, register, token.secret, random())
    assert session is not None
    keyring, now = await register.refresh(), await store.now()
    opened = keyring.find(session.secret)
    assert opened is not None
    assert keyring.is_good(opened, now)
    await revoke(store, token.credential.credential, "local")
    assert not (await register.refresh()).is_good(opened, now)
    with pytest.raises(NotFound):
        await revoke(store, token.credential.credential, "local")
    assert {one["state"] for one in await list_tokens(store)} == {"ended"} | {"expired"}


async def test_expired_token_opens_nothing_and_a_session_ends_with_its_token(store: Store) -> None:
    soon = await store.now() + timedelta(hours=1)
    token = await issue(store, Grant(user_id="ann", expires_at=soon), random())
    session = await open_session(store, Register(store), token.secret, random())
    assert session is not None
    assert session.credential.expires_at == soon
    keyring = await Register(store).refresh()
    late = keyring.find(token.secret)
    assert late is not None
    assert not keyring.is_good(late, soon)


async def test_code_opens_one_session_however_many_show_it_at_once(store: Store) -> None:
    code = await issue(store, Grant(user_id="local", scopes=SCOPES, kind="code"), random())
    opened = await asyncio.gather(
        *(open_session(store, Register(store), code.secret, random()) for _ in range(8))
    )
    assert len([one for one in opened if one is not None]) == 1
    assert await open_session(store, Register(store), code.secret, random()) is None


async def test_session_opens_no_session(store: Store) -> None:
    code = await issue(store, Grant(user_id="local", kind="code"), random())
    session = await open_session(store, Register(store), code.secret, random())
    assert session is not None
    assert await open_session(store, Register(store), session.secret, random()) is None


@pytest.mark.parametrize(
    ("grant", "code"),
    [
        (Grant(user_id="../ann"), "bad_user"),
        (Grant(user_id=""), "bad_user"),
        (Grant(user_id="ann", scopes=()), "bad_scope"),
        (Grant(user_id="ann", scopes=("all",)), "bad_scope"),  # type: ignore[arg-type]
        (Grant(user_id="ann", label="x" * 201), "label_too_long"),
    ],
)
async def test_grant_that_is_none_is_refused(store: Store, grant: Grant, code: str) -> None:
    with pytest.raises(CallerMistake) as refused:
        await issue(store, grant, random())
    assert refused.value.code == code
    assert await store.read_head(ACCESS) == 0


async def test_grant_that_has_expired_is_refused(store: Store) -> None:
    past = await store.now() - timedelta(seconds=1)
    with pytest.raises(CallerMistake) as refused:
        await issue(store, Grant(user_id="ann", expires_at=past), random())
    assert refused.value.code == "bad_expiry"


async def test_use_is_listed_and_registers_agree_however_they_were_read(store: Store) -> None:
    register = Register(store)
    token = await issue(store, Grant(user_id="ann"), random())
    found = (await register.refresh()).find(token.secret)
    assert found is not None
    await note_use(store, found)
    await asyncio.gather(*(register.refresh() for _ in range(5)))
    assert list(register.keyring) == list(await Register(store).refresh())
    assert (await list_tokens(store))[0]["last_used_at"] is not None


async def test_stream_of_a_newer_version_is_refused_and_not_misread(store: Store) -> None:
    row = EventRow(1, "CredentialLent", 1, await store.now(), "{}")
    await store.commit([Append(ACCESS, None, (row,))])
    with pytest.raises(Broken) as refused:
        await Register(store).refresh()
    assert refused.value.code == "journal_newer"
