"""A run that is exported and imported elsewhere is the same run, and nothing but a whole one is taken up."""

import hashlib
import json
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from outlast.domain.errors import CallerMistake, Conflict
from outlast.domain.run import FOLD_VERSION, FORKED
from outlast.journal.fold import load_state
from outlast.journal.thread import read_thread_words
from outlast.journal.upcast import READER
from outlast.ports.run_rows import InsertRun, RunFilter
from outlast.ports.store import Store
from outlast.ports.stream import Append, EventRow, PutPayload
from outlast.ports.thread_rows import InsertThread
from outlast.service import signals
from outlast.service.exporting import export_run
from outlast.service.importing import import_run
from outlast.service.portable import FORMAT, read_portable
from outlast.testing.contracts.store.samples import AT, put
from tests.unit.adapters.stores.sqlite.making import opened

GOLDEN = Path(__file__).resolve().parents[2] / "golden/databases/sqlite-v1.db"
RANDOM = hashlib.sha512(b"import").digest()


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    shutil.copy(GOLDEN, tmp_path / "outlast.db")
    async with opened(tmp_path / "outlast.db") as store:
        yield store


async def exported(store: Store, run_id: str) -> bytes:
    return b"".join([line async for line in export_run(store, run_id)])


async def portable(store: Store, run_id: str) -> Any:
    return read_portable((await exported(store, run_id)).splitlines(keepends=True))


async def run_in(store: Store, state: str, which: int = 0) -> str:
    return (await store.list_runs(RunFilter(state=state)))[which].run_id


async def test_exported_imported_and_exported_again_is_the_same_bytes(store: Store) -> None:
    async with opened(None) as other:
        for row in await store.list_runs(RunFilter()):
            first = await exported(store, row.run_id)
            taken = await import_run(other, read_portable(first.splitlines(keepends=True)))
            assert (taken.run_id, taken.is_new) == (row.run_id, True)
            assert await exported(other, row.run_id) == first
            assert await other.read_run(row.run_id) == row
            assert await load_state(other, row.run_id) == await load_state(store, row.run_id)


async def test_hostile_text_survives_the_journey(store: Store) -> None:
    """NUL, line separators, bytes that are no text: what a payload, a title and a body may hold."""
    run_id = await run_in(store, "COMPLETED")
    binary = b"\x00\xff\xfe\n\r"
    text = '\x00\u2028\u2029\x85\n\r\n"\\\U0001f30a'.encode()
    for content in (binary, text, b""):
        await put(store, PutPayload(run_id, hashlib.sha256(content).hexdigest(), content))
    first = await exported(store, run_id)
    async with opened(None) as other:
        await import_run(other, read_portable(first.splitlines(keepends=True)))
        assert await exported(other, run_id) == first


async def test_a_run_that_is_there_already_is_left_as_it_is(store: Store) -> None:
    run_id = await run_in(store, "WAITING")
    whole = await portable(store, run_id)
    again = await import_run(store, whole)
    assert (again.is_new, again.run_id) == (False, run_id)
    await signals.say(store, run_id, "local", "More.")
    with pytest.raises(Conflict, match="already") as exists:
        await import_run(store, whole)
    assert exists.value.code == "run_exists"


async def test_an_unfinished_run_rests_until_it_is_resumed_and_is_claimed_anew(store: Store) -> None:
    run_id = await run_in(store, "WAITING")
    generation = (await load_state(store, run_id)).generation
    async with opened(None) as other:
        taken = await import_run(other, await portable(store, run_id))
        assert taken.can_go_on
        assert await other.claim("runs", "w", 60, reader=READER) == []
        await signals.resume(other, run_id, "local")
        [claim] = await other.claim("runs", "w", 60, reader=READER)
        assert claim.generation == generation + 1


async def test_as_new_it_is_a_fork_with_ids_of_its_own(store: Store) -> None:
    run_id = await run_in(store, "COMPLETED")
    taken = await import_run(store, await portable(store, run_id), RANDOM)
    state, original = await load_state(store, taken.run_id), await load_state(store, run_id)
    assert taken.run_id != run_id
    assert (state.thread_id, state.state) == (taken.thread_id, original.state)
    assert all(call.generation in (None, FORKED) for call in state.calls.values())
    words = await read_thread_words(store, taken.thread_id)
    assert [(said.speaker, said.text) for said in words] == [
        (said.speaker, said.text) for said in await read_thread_words(store, original.thread_id)
    ]
    assert run_id not in {said.run_id for said in words}
    assert await portable(store, taken.run_id)


async def test_a_thread_is_continued_or_refused_never_rewritten(store: Store) -> None:
    rows = [row for row in await store.list_runs(RunFilter()) if row.state == "COMPLETED"]
    second = next(row for row in rows if sum(other.thread_id == row.thread_id for other in rows) == 2)
    first = next(row for row in rows if row.thread_id == second.thread_id and row != second)
    whole = await portable(store, second.run_id)
    async with opened(None) as other:
        await import_run(other, replace(whole, words=whole.words[:1]))
        assert await other.read_head(second.thread_id) == 1
        await import_run(other, await portable(store, first.run_id))
        assert await other.read_events(second.thread_id) == list(whole.words)
    changed = [
        replace(whole.words[0], body='{"run_id":"x","speaker":"user","text":"other"}'),
        *whole.words[1:],
    ]
    async with opened(None) as other:
        await put(other, InsertThread(whole.thread), Append(second.thread_id, 0, tuple(changed)))
        with pytest.raises(Conflict) as refused:
            await import_run(other, whole)
        assert refused.value.code == "thread_differs"
        assert await other.read_run(second.run_id) is None


def _last_event_cut(lines: list[bytes]) -> list[bytes]:
    return [line for line in lines if b'{"event":{"position":2,' not in line]


def _text_changed(lines: list[bytes]) -> list[bytes]:
    return [line.replace(b"tide", b"tied", 1) for line in lines]


DAMAGES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "the end is missing": lambda lines: lines[:-1],
    "half a line is missing": lambda lines: [*lines[:-1], lines[-1][:-9]],
    "an event is missing": _last_event_cut,
    "a text was changed": _text_changed,
    "something follows": lambda lines: [*lines, b"{}\n"],
    "two lines changed places": lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]],
    "only the header is there": lambda lines: lines[:1],
    "a line is no JSON": lambda lines: [lines[0], b"nonsense\n", *lines[2:]],
    "a line is nested without end": lambda lines: [lines[0], b"[" * 100_000 + b"\n"],
}


@pytest.mark.parametrize("name", DAMAGES)
async def test_what_is_not_as_it_was_written_is_refused(store: Store, name: str) -> None:
    lines = (await exported(store, await run_in(store, "COMPLETED"))).splitlines(keepends=True)
    with pytest.raises(CallerMistake) as refused:
        read_portable(DAMAGES[name](lines))
    assert refused.value.code == "export_damaged"


@pytest.mark.parametrize("text", [b"", b"hello\n", b"[]\n", b"\xff\xfe\n", b'{"format":"other"}\n'])
def test_what_is_no_export_is_refused(text: bytes) -> None:
    with pytest.raises(CallerMistake) as refused:
        read_portable(text.splitlines(keepends=True))
    assert refused.value.code == "not_an_export"


def test_a_later_format_is_refused() -> None:
    line = json.dumps({"format": FORMAT, "version": 99}).encode() + b"\n"
    with pytest.raises(CallerMistake, match="version 99") as refused:
        read_portable([line])
    assert refused.value.code == "export_newer"


async def test_a_journal_that_does_not_lead_where_it_says_is_refused(store: Store) -> None:
    """A file whose digests were made to fit, around events that do not."""
    whole = await portable(store, await run_in(store, "COMPLETED"))
    named = {name for name in whole.contents if name in str(whole.events)}
    at = next(
        n for n, event in enumerate(whole.events) if event.kind == "StateEntered" and "digest" in event.body
    )
    body = json.loads(whole.events[at].body)
    wrong = replace(whole.events[at], body=json.dumps({**body, "digest": f"{FOLD_VERSION}:{'0' * 20}"}))
    tampered = {
        "payload": replace(whole, contents={k: v for k, v in whole.contents.items() if k not in named}),
        "state at event": replace(whole, events=(*whole.events[:at], wrong, *whole.events[at + 1 :])),
        "cannot be read": replace(whole, events=(EventRow(1, "RunStarted", 1, AT, "{}"), *whole.events[1:])),
        "do not fit": replace(whole, run=replace(whole.run, is_active=True)),
    }
    async with opened(None) as other:
        for why, bad in tampered.items():
            with pytest.raises(CallerMistake, match=why) as refused:
                await import_run(other, bad)
            assert refused.value.code == "export_damaged"
            assert await other.list_run_ids() == []


async def test_who_has_the_key_or_the_thread_is_told(store: Store) -> None:
    rows = await store.list_runs(RunFilter(state="COMPLETED"))
    keyed = await portable(store, next(row.run_id for row in rows if row.key))
    async with opened(None) as other:
        await put(other, InsertThread(keyed.thread), InsertRun(replace(keyed.run, run_id="r-other")))
        with pytest.raises(Conflict) as refused:
            await import_run(other, keyed)
        assert refused.value.code == "key_used"
        waiting = await portable(store, await run_in(store, "WAITING"))
        busy = replace(waiting.run, run_id="r-busy")
        await put(other, InsertThread(waiting.thread), InsertRun(busy))
        with pytest.raises(Conflict) as refused:
            await import_run(other, waiting)
        assert refused.value.code == "thread_busy"
