"""Events from bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.adapters.providers.openai_compatible.stream import Event, EventReader


def read(*pieces: bytes) -> list[Event]:
    reader = EventReader()
    return [event for piece in pieces for event in reader.feed(piece)] + reader.end()


def data_of(*pieces: bytes) -> list[str]:
    return [event.data for event in read(*pieces)]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_at_every_byte_boundary_gives_the_same_events(end: bytes) -> None:
    lines = [
        b"\xef\xbb\xbfdata: {}",
        b"",
        b": hello",
        b"event: ping",
        b"data: 1",
        b"data: 2",
        b"",
        b"data:\xf0\x9f\x99\x82",
        b"",
    ]
    whole = end.join([*lines, b""])
    expected = [Event("", "{}"), Event("ping", "1\n2"), Event("", "🙂")]
    assert read(whole) == expected
    for cut in range(len(whole)):
        assert read(whole[:cut], whole[cut:]) == expected
    assert read(*(whole[at : at + 1] for at in range(len(whole)))) == expected


def test_g02_08_comments_and_empty_events_are_no_events() -> None:
    assert data_of(
        b": PROCESSING\n\n", b"id: 7\n", b":\n\n", b"event: x\n\n", b"data:\n\n", b"data: 1\n\n"
    ) == ["1"]


def test_documents_without_a_blank_line_between_are_events_of_their_own() -> None:
    assert data_of(b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n') == ['{"a":1}', '{"b":2}', "[DONE]"]


def test_one_document_over_several_lines_stays_one_event() -> None:
    assert data_of(b'data: {"a": {}\ndata: , "b":\ndata: {"c": 1}}\n\n') == ['{"a": {}\n, "b":\n{"c": 1}}']


def test_done_is_told_though_the_connection_stays_open() -> None:
    assert EventReader().feed(b"data: [DONE]\n") == [Event("", "[DONE]")]


def test_the_end_of_the_stream_ends_the_last_event() -> None:
    assert data_of(b"data: 1\n\ndata: 2") == ["1", "2"]


@given(st.lists(st.binary(max_size=40)))
def test_no_bytes_make_it_fail_and_boundaries_never_matter(pieces: list[bytes]) -> None:
    assert read(*pieces) == read(b"".join(pieces))
