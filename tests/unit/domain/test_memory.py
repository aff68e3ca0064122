"""Entries of memory: their names, whom they are for, and what cannot be kept."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from outlast.domain.errors import CallerMistake
from outlast.domain.memory import MAX_MEMORY_CHARS, Memory, MemoryKind, Origin, Scope, Vector, storable

NOW = datetime(2026, 11, 30, tzinfo=UTC)
FACT = Memory(
    kind=MemoryKind.FACT,
    text="The window is on Thursday.",
    scope=Scope("ada"),
    created_at=NOW,
    valid_from=NOW,
    origin=Origin("t-1", "r-1", 7),
)


def test_what_is_remembered_again_from_the_same_event_has_the_same_id() -> None:
    again = replace(FACT, created_at=NOW + timedelta(hours=1), memory_id="")
    assert again.memory_id == FACT.memory_id


@pytest.mark.parametrize(
    "other",
    [
        replace(FACT, text="The window is on Friday.", memory_id=""),
        replace(FACT, scope=Scope("bob"), memory_id=""),
        replace(FACT, origin=Origin("t-1", "r-1", 8), memory_id=""),
        replace(FACT, kind=MemoryKind.NOTE, memory_id=""),
    ],
)
def test_whatever_tells_two_entries_apart_is_in_the_id(other: Memory) -> None:
    assert other.memory_id != FACT.memory_id


def test_an_entry_is_seen_where_each_part_its_scope_names_is_the_same() -> None:
    asker = Scope("ada", "t-1", "r-1")
    assert all(asker.sees(scope) for scope in (Scope("ada"), Scope("ada", "t-1"), asker))
    foreign = (Scope("bob"), Scope("ada", "t-2"), Scope("ada", "t-1", "r-2"), Scope("bob", "t-1", "r-1"))
    assert not any(asker.sees(scope) for scope in foreign)
    assert not Scope("ada").sees(Scope("ada", "t-1"))


def test_an_entry_holds_from_the_beginning_of_its_time_and_no_longer_at_its_end() -> None:
    bounded = replace(FACT, valid_to=NOW + timedelta(days=1))
    assert bounded.holds_at(NOW)
    assert not bounded.holds_at(NOW + timedelta(days=1))
    assert not bounded.holds_at(NOW - timedelta(seconds=1))
    assert FACT.holds_at(NOW + timedelta(days=9999))


def test_text_that_no_store_holds_is_replaced_and_the_id_follows() -> None:
    kept = storable(replace(FACT, text="a\x00b\ud800c", memory_id=""))
    assert kept.text == "a\ufffdb\ufffdc"
    assert kept.memory_id == replace(FACT, text="a\ufffdb\ufffdc", memory_id="").memory_id


@pytest.mark.parametrize(
    "bad",
    [
        replace(FACT, text=" \n"),
        replace(FACT, text="x" * (MAX_MEMORY_CHARS + 1)),
        replace(FACT, scope=Scope("ada", None, "r-1")),
    ],
)
def test_what_cannot_be_kept_is_refused_with_what_to_do(bad: Memory) -> None:
    with pytest.raises(CallerMistake) as refused:
        storable(bad)
    assert refused.value.code == "bad_memory"
    assert refused.value.next_step


def test_a_vector_has_length_one_and_a_space_of_its_own() -> None:
    vector = Vector.of("tiny", [3.0, 4.0])
    assert list(vector.values()) == pytest.approx([0.6, 0.8])
    assert vector.space == "tiny/2"
    assert Vector.of("tiny", [1.0, 0.0, 0.0]).space != vector.space


@pytest.mark.parametrize("values", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], []])
def test_what_has_no_direction_is_no_vector(values: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        Vector.of("tiny", values)
