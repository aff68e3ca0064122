"""Lines of a program: put together from any parts, bounded, and the request an unreadable one answers is found."""

from __future__ import annotations

import itertools
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError

from outlast.adapters.mcp.lines import MOST_MESSAGE_BYTES, Lines, LineTooLong, message_in


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=20))
def test_lines_are_the_same_however_they_come_in_parts(told: bytes, cuts: list[int]) -> None:
    lines, ends = Lines(), sorted({*cuts, 0, len(told)})
    parts = [told[start:end] for start, end in itertools.pairwise(ends)]
    assert [line for part in parts for line in lines.take(part)] == told[: ends[-1]].split(b"\n")[:-1]


def test_a_line_of_many_small_parts_takes_no_more_room_than_it_has_bytes() -> None:
    lines = Lines()
    tracemalloc.start()
    try:
        for _ in range(200_000):
            assert not [*lines.take(b"abc")]
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_that_is_too_long_is_refused_whether_it_ends_or_not(end: bytes) -> None:
    lines = Lines()
    part = b"x" * (MOST_MESSAGE_BYTES // 4)
    for _ in range(4):
        assert not [*lines.take(part)]
    with pytest.raises(LineTooLong):
        [*lines.take(b"x" + end)]


@pytest.mark.parametrize(
    ("line", "answered"),
    [
        (b'{"jsonrpc": "2.0", "id": 7, "result": "no object"}', 7),
        (b'{"result": {"a": "\\ud800"}, "jsonrpc": "2.0", "id": "seven"}', "seven"),
        (b'{"jsonrpc":"2.0","id":7,"error":{"code":"no number","message":""}}', 7),
        (b'{"jsonrpc":"2.0","id":7,"result":{"half', 7),
        (b'{"jsonrpc":"2.0","id":7,"result":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001, 7),
        (b'{"jsonrpc": "2.0", "id": true, "result": {}, "n": "\\ud800"}', None),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ask", "params": "\\ud800"}', None),
        (b'[50] handler {"jsonrpc":"2.0","id":0,"result":{"half', None),
        (b"7", None),
        (b"", None),
    ],
)
def test_an_unreadable_line_is_an_error_for_the_request_it_answers(
    line: bytes, answered: int | str | None
) -> None:
    item = message_in(line)
    if answered is None:
        assert isinstance(item, Exception)
        return
    assert isinstance(item, SessionMessage)
    assert isinstance(item.message, JSONRPCError)
    assert item.message.id == answered
