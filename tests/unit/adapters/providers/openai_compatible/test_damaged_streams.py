"""Streams cut anywhere, in pieces of any size, or damaged: the answer that was meant, or none; never another in silence."""

import itertools
import json
import time

from hypothesis import given
from hypothesis import strategies as st

from outlast.ports.provider import ModelAnswer
from tests.fake_endpoint import DONE, delta, sse
from tests.law import law
from tests.unit.adapters.providers.openai_compatible.reading import assembled
from tests.unit.adapters.providers.openai_compatible.test_chunks import call

ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
CHUNKS = [
    delta(role="assistant", content="Ich prüfe 市场 🙂"),
    delta(tool_calls=[call("wipe", '{"path": "/a', index=0, id="a")]),
    delta(tool_calls=[call("find", "", index=1, id="b")]),
    delta(tool_calls=[call("", '/鉄🙂"}', index=0)]),
    delta(tool_calls=[call("", '{"q": 1}', index=1)]),
    delta("tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9}},
]
STREAM = sse(*CHUNKS, DONE)


def come_of(*pieces: bytes) -> ModelAnswer | None:
    """The answer of a stream, or None where there is none."""
    assembly, _ = assembled(*pieces)
    return assembly.answer() if assembly.is_whole and not assembly.trouble else None


MEANT = come_of(STREAM)


@law("MODEL-1.a")
@given(st.lists(st.integers(0, len(STREAM))), ENDS, st.sampled_from([b"", b"\xef\xbb\xbf", b": hello\n\n"]))
def test_the_pieces_the_line_ends_and_a_mark_in_front_change_nothing(
    cuts: list[int], end: bytes, front: bytes
) -> None:
    raw = front + STREAM.replace(b"\n", end)
    at = [0, *sorted(cuts), len(raw)]
    assert MEANT is not None
    assert come_of(*(raw[start:stop] for start, stop in itertools.pairwise(at))) == MEANT


@law("MODEL-5.f")
def test_a_stream_that_ends_anywhere_is_the_answer_or_none() -> None:
    for cut in range(len(STREAM)):
        answer = come_of(STREAM[:cut])
        assert answer is None or answer.tool_calls == getattr(MEANT, "tool_calls", None)


@law("MODEL-5.f")
@given(st.integers(0, len(CHUNKS) - 1), st.integers(0, 400), st.integers(1, 400))
def test_a_chunk_that_lost_some_of_its_signs_so_that_it_is_no_json_leaves_no_answer(
    number: int, start: int, length: int
) -> None:
    lines = STREAM.split(b"\n\n")
    data = lines[number].removeprefix(b"data: ")
    start = 1 + start % (len(data) - 1)
    lines[number] = b"data: " + data[:start] + data[start + length :]
    assembly, _ = assembled(b"\n\n".join(lines))
    try:
        json.loads(lines[number].removeprefix(b"data: ").decode("utf-8", "replace"))
    except ValueError:
        assert assembly.trouble is not None


@given(st.lists(TEXT, min_size=1, max_size=6), st.data())
def test_text_whose_bytes_are_cut_between_events_comes_out_whole(
    texts: list[str], data: st.DataObject
) -> None:
    """A server that cuts by bytes writes those of one character into two JSON texts."""
    words = "".join(texts).replace("\\", "").replace('"', "")
    raw = "".join(sign for sign in words if sign >= " ").encode()
    at = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=4)))
    pieces = [raw[start:stop] for start, stop in zip([0, *at], [*at, len(raw)], strict=True)]
    head, tail = b'data: {"choices":[{"delta":{"content":"', b'"}}]}\n\n'
    assembly, deltas = assembled(*(head + piece + tail for piece in pieces), sse(delta("stop")))
    assert assembly.answer().text == raw.decode()
    assert "".join(piece.text for piece in deltas) == raw.decode()


def test_a_megabyte_of_arguments_is_put_together_in_a_moment_though_every_piece_repeats_the_name() -> None:
    pieces = ['{"q":"', *["}{}{"] * 8_000, '"}']
    stream = sse(*(delta(tool_calls=[call("find", piece, index=0, id="a")]) for piece in pieces))
    started = time.process_time()
    answer = come_of(stream, sse(delta("tool_calls"), DONE))
    assert time.process_time() - started < 1
    assert answer is not None
    assert [item.arguments for item in answer.tool_calls] == [{"q": "}{}{" * 8_000}]
