"""Events as text and back: equal for every kind and every text, and never a guess about what is damaged."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from outlast.domain.door import canonical_json, digest_of, json_writer
from outlast.domain.errors import Broken
from outlast.domain.events import KINDS, AnyEvent, LimitReached, Said, ValueSet
from outlast.domain.run import FOLD_VERSION, RunState
from outlast.domain.task import Limits, TaskDefinition
from outlast.journal.codec import PAYLOAD_BYTES, decode, encode, from_plain, payloads_named_in, to_plain
from outlast.journal.snapshot import snapshot_of, state_digest, state_in
from outlast.ports.stream import SnapshotRow
from tests.law import law
from tests.unit.strategies import events, values_of

MUCH = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


@law("STORE-4.a")
@MUCH
@given(event=events())
def test_every_event_is_read_back_equal_whatever_text_it_holds(event: AnyEvent) -> None:
    body, payloads = encode(event)
    assert decode(type(event), body, payloads) == event
    assert sorted(set(payloads_named_in(body))) == sorted(payloads)


@MUCH
@given(event=events())
def test_encoding_what_was_read_gives_the_same_text(event: AnyEvent) -> None:
    body, payloads = encode(event)
    assert encode(decode(type(event), body, payloads))[0] == body


@MUCH
@given(event=events())
def test_an_event_is_spelled_letter_by_letter_as_its_plain_form(event: AnyEvent) -> None:
    body, payloads = encode(event)
    if not payloads and "$" not in body:
        assert body == json_writer()(to_plain(event))


@law("RUN-2.b")
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(state=values_of(RunState))
def test_a_state_is_read_back_equal_from_its_snapshot_and_in_the_same_order(state: RunState) -> None:
    snapshot = snapshot_of(state)
    found = state_in(SnapshotRow(snapshot.position, snapshot.fold_version, snapshot.body))
    assert found == state
    assert list(found.tickets) == list(state.tickets)
    assert list(found.calls) == list(state.calls)
    assert state_digest(found) == state_digest(state)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(state=values_of(RunState))
def test_snapshots_and_digests_are_those_of_the_whole_state_though_the_definition_is_spelled_once(
    state: RunState,
) -> None:
    plain = to_plain(state)
    assert snapshot_of(state).body == json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
    for name in ("run_id", "position", "at", "counted_at"):
        plain.pop(name, None)
    assert state_digest(state) == f"{FOLD_VERSION}:{digest_of(canonical_json(plain))[:20]}"


def definition_in(settings: str) -> TaskDefinition:
    found: TaskDefinition = decode(TaskDefinition, f'{{"name":"t","settings":{settings}}}', {})
    return found


def test_runs_that_are_pinned_alike_share_one_definition() -> None:
    assert definition_in('{"share":1}') is definition_in('{"share":1}')


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1}', '{"a":true}'),
        ('{"a":1}', '{"a":1.0}'),
        ('{"a":0.0}', '{"a":-0.0}'),
        ('{"a":0}', '{"a":false}'),
    ],
)
def test_values_that_are_only_equal_to_python_are_not_shared(one: str, other: str) -> None:
    assert [repr(definition_in(text).settings) for text in (one, other)] == [
        repr(json.loads(text)) for text in (one, other)
    ]


def test_the_order_of_keys_is_kept_where_values_are_shared() -> None:
    assert list(definition_in('{"a":1,"b":2}').settings) == ["a", "b"]
    assert list(definition_in('{"b":2,"a":1}').settings) == ["b", "a"]


@law("STORE-3.b")
@pytest.mark.parametrize(
    ("text", "is_apart"),
    [("x" * PAYLOAD_BYTES, False), ("x" * (PAYLOAD_BYTES + 1), True), ("é" * 4097, True)],
)
def test_a_string_of_more_than_eight_kilobytes_is_kept_apart_by_its_content(
    text: str, is_apart: bool
) -> None:
    body, payloads = encode(Said("ann", text))
    assert bool(payloads) is is_apart
    assert list(payloads.values()) == ([text.encode()] if is_apart else [])
    assert (text in body) is not is_apart
    assert decode(Said, body, payloads) == Said("ann", text)


def test_equal_strings_are_kept_once() -> None:
    text = "x" * 9000
    body, payloads = encode(ValueSet("twice", [text, {"again": text}]))
    assert len(payloads) == 1
    assert len(body) < 400


@pytest.mark.parametrize(
    "value",
    [
        {"$payload": "0" * 64},
        {"$literally": {"$payload": "0" * 64}},
        {"$literally": 5},
        [{"$payload": {"$literally": {"$payload": []}}}],
        {"$payload": "x" * 9000, "$literally": ["y" * 9000]},
    ],
)
def test_a_users_data_is_never_taken_for_a_payload(value: Any) -> None:
    body, payloads = encode(ValueSet("odd", value))
    assert decode(ValueSet, body, payloads) == ValueSet("odd", value)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{",
        "null",
        '{"by": "ann"}',
        '{"by": "ann", "text": 5}',
        '{"by": "ann", "text": "x", "more": 1}',
        '{"by": "ann", "text": {"$payload": "0"}}',
        '{"by": "ann", "text": {"$payload": []}}',
        '{"by": "ann", "text": {"$payload": "0"',
        '{"$literally": 5}',
        "[" * 100_000,
    ],
)
def test_a_body_that_describes_no_event_is_a_damaged_journal(body: str) -> None:
    payloads_named_in(body)
    with pytest.raises(Broken) as caught:
        decode(Said, body, {})
    assert caught.value.code == "journal_damaged"
    assert caught.value.next_step


def test_a_number_too_large_for_its_field_is_a_damaged_journal() -> None:
    with pytest.raises(Broken, match="LimitReached"):
        decode(LimitReached, json.dumps({"limit": "x", "used": 10**400, "bound": 1}), {})


def test_whole_numbers_in_a_field_of_fractions_are_the_same_before_and_after_storing() -> None:
    """Else a state in memory and the same state read back would have different digests."""
    given = Limits(max_wall_seconds=60, max_cost_usd=1)
    assert json.dumps(to_plain(given)) == json.dumps(to_plain(from_plain(Limits, to_plain(given))))


def test_every_kind_has_a_version() -> None:
    assert all(kind.VERSION >= 1 for kind in KINDS.values())
