"""Batches on their way: what cannot be stored is refused before it is sent, and what is sent is what was meant."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from outlast.adapters.stores.postgres.channels import Channels
from outlast.adapters.stores.postgres.encoding import BETWEEN, Batch, document_of, encode
from outlast.domain.errors import CallerMistake
from outlast.ports.batch import Item
from outlast.ports.queue import Enqueue, Release
from outlast.ports.run_rows import UpdateRun
from outlast.ports.stream import Append, CopyPayloads, EventRow, PutPayload, PutSnapshot
from outlast.testing.contracts.store.samples import AT, append

CHANNELS = Channels("outlast", "me")
EVENT = EventRow(1, "Noted", 1, AT, "{}")
BAD = {"nul": "a\x00b", "surrogate": "a\ud83d", "large": 1 << 63, "small": -(1 << 63) - 1}
TEXTS: list[Any] = [
    lambda bad: Append(bad, 0, (EVENT,), 1),
    lambda bad: Append("r", 0, (EVENT,), 1, bad),
    lambda bad: Append("r", 0, (replace(EVENT, kind=bad),), 1),
    lambda bad: Append("r", 0, (replace(EVENT, body=bad),), 1),
    lambda bad: Append("r", 0, (replace(EVENT, body=bad),)),
    lambda bad: PutSnapshot("r", 1, 1, bad),
    lambda bad: PutPayload("r", bad, b""),
    lambda bad: CopyPayloads("r", bad),
    lambda bad: Release("runs", "r", 1, None, bad),
    lambda bad: Release("runs", "r", 1, AT, bad),
]
NUMBERS: list[Any] = [
    lambda bad: Append("r", bad, (EVENT,), 1),
    lambda bad: Append("r", 0, (EVENT,), bad),
    lambda bad: Append("r", 0, (replace(EVENT, version=bad),), 1),
    lambda bad: Append("r", 0, (EVENT,), bad, "runs"),
    lambda bad: PutSnapshot("r", bad, 1, ""),
    lambda bad: Release("runs", "r", bad, None),
    lambda bad: Release("runs", "r", bad, AT),
    lambda bad: UpdateRun("r", "INIT", True, None, AT, "{}", bad),
]


def encoded(*items: Item) -> Batch:
    return encode(items, CHANNELS, 7)


@pytest.mark.parametrize(
    ("make", "bad"),
    [*product(TEXTS, [BAD["nul"], BAD["surrogate"]]), *product(NUMBERS, [BAD["large"], BAD["small"]])],
)
def test_a_value_that_no_server_holds_is_refused(make: Any, bad: object) -> None:
    with pytest.raises(CallerMistake) as refused:
        encoded(make(bad))
    assert refused.value.code == "not_storable"
    assert "lone surrogates" in refused.value.next_step


@pytest.mark.parametrize("generation", [None, 1])
def test_a_time_without_a_zone_is_a_bug(generation: int | None) -> None:
    naive = datetime(2026, 3, 1, tzinfo=UTC).replace(tzinfo=None)
    with pytest.raises(TypeError):
        encoded(Append("r", 0, (replace(EVENT, at=naive),), generation))


def test_only_the_append_of_a_holder_has_a_statement_of_its_own() -> None:
    assert encoded(append("r", 0, 2, generation=1)).plain is not None
    others: list[tuple[Item, ...]] = [
        (append("r", 0),),
        (Append("r", None, (EVENT,), 1),),
        (Append("r", 0, (), 1),),
        (append("r", 0, generation=1), PutPayload("r", "d", b"")),
        *((make(f"a{BETWEEN}b"),) for make in TEXTS[:4]),
        (Enqueue("runs", "r", AT, "ann"),),
    ]
    assert [encoded(*items).plain for items in others] == [None] * len(others)


def test_leases_given_back_in_silence_have_a_statement_of_their_own() -> None:
    back = [Release("runs", f"r{n}", n, None) for n in range(3)]
    assert encoded(*back).releases == tuple(back)
    others: list[tuple[Item, ...]] = [
        (back[0], Release("runs", "r9", 1, AT)),
        (back[0], back[0]),
        (back[0], append("r0", 0, generation=1)),
    ]
    assert [encoded(*items).releases for items in others] == [()] * len(others)


def test_payloads_are_found_beside_those_of_other_batches() -> None:
    batches = [
        encoded(PutPayload("r", "a", b"1"), append("r", 0), PutPayload("r", "b", b"2")),
        encoded(Enqueue("runs", "r", AT, "ann")),
        encoded(PutPayload("q", "c", b"3")),
    ]
    contents = [content for batch in batches for content in batch.contents]
    found = {
        item["digest"]: contents[batch["skip"] + item["content"] - 1]
        for batch in json.loads(document_of(batches))
        for item in batch["items"]
        if item["is"] == "PutPayload"
    }
    assert found == {"a": b"1", "b": b"2", "c": b"3"}


def test_signals_and_queues_are_told_with_the_commit_and_streams_are_not() -> None:
    batch = encoded(append("r", 0), Enqueue("runs", "r", AT, "ann"), append("q", 0, generation=1))
    told = [text for _, text in json.loads(batch.notices)]
    assert told == ["me queue:runs", "me signals:r"]
    assert batch.topics == {"r", "signals:r", "queue:runs", "q"}
    assert batch.streams == {"r", "q"}


def test_a_topic_of_any_length_fits_into_a_notice() -> None:
    long = "signals:" + "\u4f60" * 5000
    channel, text = CHANNELS.notice(long)
    assert len(text.encode()) < 1000
    assert len(channel) <= 63
    assert CHANNELS.place(long) != CHANNELS.place(long + "x")
    assert len({CHANNELS.place(topic) for topic in ("r", "signals:r", "queue:r", "R")}) == 4
