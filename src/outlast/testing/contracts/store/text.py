"""Text: whatever a model, tool or person can say comes back as it was, or is refused clearly."""

from __future__ import annotations

import json
from typing import Final

import pytest

from outlast.domain.errors import CallerMistake
from outlast.ports.queue import Enqueue, Release
from outlast.ports.run_rows import InsertRun, RunRow
from outlast.ports.store import Store
from outlast.ports.stream import Append, PutSnapshot
from outlast.ports.thread_rows import InsertThread, ThreadRow
from outlast.testing.contracts.store.samples import AT, LEASE_SECONDS, events, put

HOSTILE: Final = {
    "empty": "",
    "blanks": " \t\r\n ",
    "quotes": "'; DROP TABLE events; -- \" ` \\ \\' $1 ?1 :name %s {rows} {}",
    "line ends": "a\r\nb\nc\rd\u2028e\u2029f\x85g\x0bh",
    "controls": "".join(map(chr, range(1, 32))) + "\x7f\x1b[31m",
    "emoji": "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1f3\U0001f1f4 \U0010ffff",
    "right to left": "\u202eabc\u202c \u05e9\u05dc\u05d5\u05dd \u200f \u0645\u0631\u062d\u0628\u0627",
    "composed and not": "\u00e9 e\u0301 \u212b \ufb01 \ufeff\u200b\u00a0 \ufffd \ufffe \uffff",
    "cjk": "\u4f60\u597d \u3053\u3093 \U00020000",
    "json in json": json.dumps({"a": json.dumps({"b": "\\u0000"})}),
    "long": "0123456789abcdef" * (2 << 16),
}
"""All but NUL and lone surrogates, which have tests of their own."""


@pytest.mark.asyncio
class TextContract:
    """What is promised of text."""

    @pytest.mark.parametrize("name", HOSTILE)
    async def test_hostile_text_comes_back_as_it_was(self, store: Store, name: str) -> None:
        """In a journal, snapshot, row, key and note."""
        text = HOSTILE[name]
        document = json.dumps({"text": text}, ensure_ascii=False)
        rows = events(1, body=document)
        talk = ThreadRow(thread_id="t", user_id="ann", title=text, created_at=AT)
        row = RunRow(
            run_id="r",
            thread_id="t",
            user_id="ann",
            task=text[:500],
            state="INIT",
            is_active=True,
            created_at=AT,
            updated_at=AT,
            summary=document,
            key=text[:500],
        )
        now = await store.now()
        await put(store, Append("r", 0, rows), InsertThread(talk), InsertRun(row))
        await put(store, PutSnapshot("r", 1, 1, document), Enqueue("runs", "r", now, "ann", text[:500]))
        [claim] = await store.claim("runs", text[:500], LEASE_SECONDS)
        held = await store.read_entry("runs", "r")
        await put(store, Release("runs", "r", claim.generation, None, text))
        entry = await store.read_entry("runs", "r")
        snapshot = await store.read_snapshot("r")
        assert await store.read_events("r") == list(rows)
        assert await store.read_thread("t") == talk
        assert await store.read_run("r") == row
        assert await store.find_run("ann", text[:500]) == row
        assert snapshot is not None
        assert snapshot.body == document
        assert entry is not None
        assert entry.note == text
        assert held is not None
        assert held.holder == text[:500]

    @pytest.mark.parametrize(
        "value", [{"nul": "a\x00b"}, {"big": 10**299}, {"deep": [[[[]]]]}, {"float": 1e308}, {"\x00": "\x00"}]
    )
    async def test_json_comes_back_to_the_letter(self, store: Store, value: object) -> None:
        """A store never parses a body: numbers keep their digits, keys their order, NUL its escape."""
        document = json.dumps(value)
        await put(store, Append("r", 0, events(1, body=document)))
        [event] = await store.read_events("r")
        assert event.body == document

    async def test_a_nul_is_kept_or_refused(self, store: Store) -> None:
        """Never cut off, never half stored."""
        talk = ThreadRow(thread_id="t", user_id="ann", title="a\x00b", created_at=AT)
        refusal = None
        try:
            await put(store, InsertThread(talk))
        except CallerMistake as error:
            refusal = error.code
        assert refusal in {None, "not_storable"}
        assert await store.read_thread("t") == (None if refusal else talk)

    async def test_a_lone_surrogate_is_refused_and_nothing_is_written(self, store: Store) -> None:
        """It has no bytes; text is cleaned where it enters, long before a store."""
        with pytest.raises(CallerMistake) as refused:
            await store.commit([Append("q", 0, events(1)), Append("r", 0, events(2, body="ok \ud83d"))])
        assert refused.value.code == "not_storable"
        assert refused.value.next_step
        assert await store.read_head("q") == 0
        assert await store.read_head("r") == 0
