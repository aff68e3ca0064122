"""Chunks become an answer, however the server writes them."""

import json

import pytest

from outlast.adapters.providers.openai_compatible.refusal import fault_of
from outlast.adapters.providers.openai_compatible.request import wire_name
from outlast.domain.message import Usage
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelAnswer, ToolSchema
from tests.fake_endpoint import DONE, SAYS_HELLO, delta, sse
from tests.law import law
from tests.unit.adapters.providers.openai_compatible.reading import answered, assembled, called


def call(name: str = "", arguments: object = None, **keys: object) -> dict[str, object]:
    return {**keys, "function": {"name": name or None, "arguments": arguments}}


def told(*calls: ToolCall) -> list[tuple[str, str, dict[str, object]]]:
    return [(item.id, item.name, dict(item.arguments)) for item in calls]


def test_an_answer_is_text_reasoning_usage_and_finish() -> None:
    assert answered(SAYS_HELLO) == ModelAnswer(
        "Guten Tag, 你好 🙂", reasoning="They greet.", usage=Usage(10, 5), finish="stop", model="m"
    )


@law("MODEL-1.b")
def test_every_byte_boundary_gives_the_same_answer_with_calls_and_text_of_many_bytes() -> None:
    raw = sse(
        delta(content="Ich prüfe 市场 🙂"),
        delta(tool_calls=[call("find", '{"q": "鉄', index=0, id="a")]),
        delta(tool_calls=[call("", '道🙂"}', index=0)]),
        delta(tool_calls=[call("read", "", index=1, id="b")]),
        delta("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9}},
        DONE,
    )
    whole, pieces = assembled(raw)
    expected = whole.answer()
    assert told(*expected.tool_calls) == [("a", "find", {"q": "鉄道🙂"}), ("b", "read", {})]
    for cut in range(len(raw)):
        assembly, deltas = assembled(raw[:cut], raw[cut:])
        assert assembly.answer() == expected
        assert deltas == pieces


def test_a_character_cut_in_two_by_the_server_arrives_whole() -> None:
    stream = b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\ndata: {"choices":[{"delta":{"content":"\\ude42"}}]}\n\n'
    assembly, deltas = assembled(stream, sse(delta("stop")))
    assert assembly.answer().text == "a🙂"
    assert "".join(piece.text for piece in deltas) == "a🙂"


def test_g02_01_a_delta_without_id_and_index_goes_on_with_the_call_being_streamed() -> None:
    assert told(*called(call("find", '{"q":', id="a1"), call("", '"x"}'))) == [("a1", "find", {"q": "x"})]


def test_g02_01_lines_without_blank_lines_between_are_read_too() -> None:
    lines = sse(delta(tool_calls=[call("find", "{}", id="a1")]), delta("tool_calls"), DONE).replace(
        b"\n\n", b"\n"
    )
    assert told(*answered(lines).tool_calls) == [("a1", "find", {})]


def test_g02_02_a_call_without_an_id_is_kept() -> None:
    assert told(*called(call("read", "", index=0), call("", '{"p":"a.ts"}', index=0))) == [
        ("", "read", {"p": "a.ts"})
    ]


def test_g02_03_a_new_id_under_a_used_index_opens_a_new_call() -> None:
    first, second = (
        call("search", '{"q":"oslo"}', index=0, id="c1"),
        call("search", '{"q":"bergen"}', index=0, id="c2"),
    )
    assert told(*called(first, second)) == [
        ("c1", "search", {"q": "oslo"}),
        ("c2", "search", {"q": "bergen"}),
    ]


def test_g02_03_a_new_id_opens_a_new_call_though_the_one_before_has_no_arguments() -> None:
    calls = called(call("now", "", index=0, id="c1"), call("now", "", index=0, id="c2"))
    assert told(*calls) == [("c1", "now", {}), ("c2", "now", {})]


@pytest.mark.parametrize("keys", [{}, {"index": 0}, {"id": "x1"}, {"id": "x1", "index": 0}])
def test_g03_08_whole_calls_under_one_id_or_index_stay_two(keys: dict[str, object]) -> None:
    calls = called(call("read", '{"p":1}', **keys), call("read", '{"p":2}', **keys))
    assert [item.arguments for item in calls] == [{"p": 1}, {"p": 2}]
    assert len({item.id for item in calls if item.id}) == (2 if "id" in keys else 0)


def test_g03_08_calls_of_one_id_in_a_whole_message_stay_two() -> None:
    calls = [call("read", "", id="x1"), call("read", '{"p":2}', id="x1")]
    answer = answered(sse({"choices": [{"message": {"tool_calls": calls}, "finish_reason": "stop"}]}))
    assert told(*answer.tool_calls) == [("x1", "read", {}), ("x1_2", "read", {"p": 2})]
    assert answer.finish == "tool_calls"


def test_calls_whose_deltas_alternate_are_told_apart_by_index_or_id() -> None:
    def woven(**keys: list[object]) -> list[tuple[str, str, dict[str, object]]]:
        (key, (one, two)), *_ = keys.items()
        deltas = [call("f", '{"a":', **{key: one}), call("g", '{"b":', **{key: two})]
        return told(*called(*deltas, call("", "1}", **{key: one}), call("", "2}", **{key: two})))

    assert [name for _, name, _ in woven(index=[0, 1])] == ["f", "g"]
    assert woven(id=["i", "j"]) == [("i", "f", {"a": 1}), ("j", "g", {"b": 2})]


def test_a_server_that_repeats_id_and_name_makes_one_call() -> None:
    deltas = [call("find", part, index=0, id="c1") for part in ("", '{"q":', ' "x"', "}")]
    assert told(*called(*deltas)) == [("c1", "find", {"q": "x"})]


def test_an_id_that_comes_late_belongs_to_the_open_call() -> None:
    assert told(*called(call("find", ""), call("", '{"q":1}', id="late"))) == [("late", "find", {"q": 1})]


@pytest.mark.parametrize(
    ("sent", "meant"), [("", {}), (None, {}), ("null", {}), ({"city": "Rome"}, {"city": "Rome"})]
)
def test_g02_06_arguments_in_any_form_become_an_object(sent: object, meant: dict[str, object]) -> None:
    assert told(*called(call("f", sent, index=0, id="c"))) == [("c", "f", meant)]


def test_g03_05_one_broken_call_leaves_the_other_whole() -> None:
    broken, fine = called(call("read", '{"path": "a', index=0, id="c1"), call("list", "{}", index=1, id="c2"))
    assert (broken.arguments, broken.raw, broken.problem is None) == ({}, '{"path": "a', False)
    assert (fine.arguments, fine.problem) == ({}, None)


def test_a_call_cut_for_length_before_its_arguments_is_a_problem() -> None:
    whole, cut = called(
        call("now", "", index=0, id="a"), call("delete", "", index=1, id="b"), finish="length"
    )
    assert whole.problem is None
    assert cut.problem is not None


def test_tools_come_back_under_their_own_names() -> None:
    sent = sse(delta(tool_calls=[call(wire_name("files:read"), "{}")]), delta("tool_calls"))
    assert answered(sent, tools=(ToolSchema("files:read", "", {}),)).tool_calls[0].name == "files:read"
    assert told(*called(call("nobody_offered_this", "{}"))) == [("", "nobody_offered_this", {})]


@pytest.mark.parametrize(
    ("trouble", "fault"),
    [
        ({"error": {"message": "worker limit reached", "code": 502}}, "overload"),
        ({"error": {"message": "slow down", "type": "rate_limit_error"}}, "rate_limit"),
        ({"error": {"message": "slow down", "code": "429"}}, "rate_limit"),
        ({"error": "something"}, "cut_stream"),
        ([{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}], "overload"),
        ({"object": "error", "message": "prompt is too long", "code": 400}, "context_exceeded"),
        (delta("error"), "overload"),
    ],
)
def test_g02_07_an_error_in_the_stream_is_a_trouble_not_a_short_answer(trouble: object, fault: str) -> None:
    assembly, _ = assembled(sse(delta(content="The total is "), trouble, DONE))
    assert assembly.trouble is not None
    assert fault_of(assembly.trouble) == fault


@pytest.mark.parametrize("data", ["just words", '{"message": "bad"}', '"words"'])
def test_g02_07_an_error_event_is_a_trouble_whatever_it_holds(data: str) -> None:
    assembly, _ = assembled(b"event: error\ndata: " + data.encode() + b"\n\n", sse(DONE))
    assert assembly.trouble is not None


def test_g02_08_keep_alives_and_lines_that_are_no_json_change_nothing() -> None:
    noise = b": PROCESSING\n\n:\n\ndata: : PROCESSING\n\nevent: ping\ndata: {}\n\ndata: null\n\ndata: []\n\nid: 7\n\n"
    noisy = noise.join([b"", *(part + b"\n\n" for part in SAYS_HELLO.split(b"\n\n") if part)])
    assert answered(noisy) == answered(SAYS_HELLO)
    assert assembled(noise)[0].progress == 0


@pytest.mark.parametrize("end", [b"", b": bye\n\n", b'data: {"choices":[{"del'])
def test_g02_09_a_stream_that_ends_without_an_end_is_not_whole(end: bytes) -> None:
    assembly, _ = assembled(sse(delta(content="Let me compare the two files:")), end)
    assert not assembly.is_whole


def test_g02_09_a_done_without_anything_before_is_not_whole() -> None:
    assert not assembled(sse(DONE))[0].is_whole
    assert assembled(sse(delta(content="x"), DONE))[0].is_whole


def test_g02_15_usage_is_read_wherever_it_stands_and_the_last_one_wins() -> None:
    first = {"id": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
    last = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25}}
    nulls = {**delta(content="x"), "usage": None}
    assert answered(sse(first, nulls, delta("stop"), last)).usage == Usage(10, 5, 0.25)
    in_choice = {
        "choices": [
            {"delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 2, "completion_tokens": 1}}
        ]
    }
    assert answered(sse(delta(content="x"), in_choice)).usage == Usage(2, 1)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": "many", "completion_tokens": float("nan")}, [], 7]
)
def test_g02_15_without_usage_there_is_a_marked_estimate(usage: object) -> None:
    told_usage = answered(sse(delta(content="some words"), {**delta("stop"), "usage": usage}, DONE)).usage
    assert told_usage.is_estimate
    assert told_usage.input_tokens > 0
    assert told_usage.output_tokens > 0


def test_content_in_parts_is_text_and_thinking() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "yes"},
        7,
    ]
    answer = answered(sse(delta(content=parts), delta("stop")))
    assert (answer.text, answer.reasoning) == ("yes", "hm")


@pytest.mark.parametrize("key", ["text", "thinking"])
def test_g05_03_thinking_in_a_part_of_its_own_is_no_text_whatever_its_key(key: str) -> None:
    parts = [{"type": "reasoning", key: "I think so."}, {"type": "text", "text": "S"}]
    answer = answered(sse(delta(content=parts), delta("stop")))
    assert (answer.text, answer.reasoning) == ("S", "I think so.")


@pytest.mark.parametrize(
    ("sent", "meant"),
    [("eos", "stop"), ("max_tokens", "length"), ("length", "length"), ("content_filter", "content_filter")],
)
def test_finish_reasons_of_all_servers_are_four(sent: str, meant: str) -> None:
    assert answered(sse(delta(content="x"), delta(sent))).finish == meant


@pytest.mark.parametrize(
    "chunk", [7, "x", {"choices": 7}, {"choices": [7]}, {"choices": [{"delta": 7}]}, {"choices": None}]
)
def test_chunks_of_a_wrong_shape_are_passed_over(chunk: object) -> None:
    shapes = [
        {"tool_calls": 7},
        {"tool_calls": [7, None, {}]},
        {"content": 7, "reasoning": [7], "tool_calls": None},
    ]
    noise = sse(json.dumps(chunk), *({"choices": [{"delta": shape}]} for shape in shapes))
    assert answered(noise, SAYS_HELLO) == answered(SAYS_HELLO)


def test_g01_13_a_chunk_that_nests_too_deep_is_passed_over() -> None:
    assert answered(sse("[" * 100_000), SAYS_HELLO) == answered(SAYS_HELLO)
