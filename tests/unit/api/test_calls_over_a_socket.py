"""The cases of model servers through the whole path: a real socket, each byte alone, a harness, its tools, its journal."""

import json
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.door import canonical_json
from tests.endpoint_stage import asks, bytewise, call, fault_in, says, served
from tests.fake_endpoint import DONE, Received, Reply, delta, json_reply, sse
from tests.law import law

ENDED = says("Done.")
CUT = bytewise(sse(delta(content="Let me compare the two files:")))


async def done_by(folder: Path, *replies: Reply) -> list[tuple[str, dict[str, Any]]]:
    """What tools did in a run with these replies, which must end with the last words."""
    async with served(folder, *replies, ENDED) as scene:
        shown, _ = await scene.play()
        assert (shown["state"], shown["answer"]) == ("COMPLETED", "Done.")
        assert fault_in(scene.sent()) == ""
        return scene.done


def found(q: str = "", n: int = 0, **more: object) -> tuple[str, dict[str, Any]]:
    return ("find", {"q": q, "n": n, **more})


@law("MODEL-1.b")
async def test_g01_09_a_long_id_reaches_the_tool_the_journal_and_the_next_request_exactly(
    tmp_path: Path,
) -> None:
    number = 7305811920034550123
    async with served(tmp_path, asks(call("find", f'{{"n": {number}}}', index=0, id="a")), ENDED) as scene:
        _, lines = await scene.play()
        assert scene.done == [found(n=number)]
        asked = next(line for line in lines if line["kind"] == "ToolRequested")
        assert asked["arguments"]["n"] == number
        assert f'"n": {number}' in scene.sent()[2]["tool_calls"][0]["function"]["arguments"]


@law("MODEL-4.d")
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param('{"n": ' + "9" * 5000 + "}", id="g01_09 a number of 5000 digits"),
        pytest.param('{"n": NaN}', id="g01_10 NaN"),
        pytest.param('{"n": -Infinity}', id="g01_10 minus infinity"),
        pytest.param('{"q": ' + "[" * 100_000 + "]" * 100_000 + "}", id="g01_13 deep nesting"),
        pytest.param('{"q": "x"', id="g02_06 cut"),
        pytest.param('"abc"', id="g02_06 a text"),
        pytest.param("[1]", id="g02_06 a list"),
        pytest.param('{"q": "x", "q": "y"}', id="a key twice"),
        pytest.param('{"q": "x"}{"q": "y"}', id="g02_03 two objects"),
    ],
)
async def test_arguments_that_are_none_are_a_result_with_an_error_and_run_nothing(
    tmp_path: Path, arguments: str
) -> None:
    stream = sse(delta(tool_calls=[call("find", arguments, index=0, id="a")]), delta("tool_calls"), DONE)
    reply = bytewise(stream) if len(stream) < 10_000 else Reply([stream])
    async with served(tmp_path, reply, ENDED) as scene:
        shown, lines = await scene.play()
        assert shown["answer"] == "Done."
        assert scene.done == []
        answered = next(line for line in lines if line["kind"] == "ToolAnswered")
        assert answered["error"]["code"] == "invalid_arguments"
        assert json.loads(scene.sent()[2]["tool_calls"][0]["function"]["arguments"]) == {}
        assert "invalid_arguments" in scene.sent()[3]["content"]
        assert canonical_json(lines)


async def test_g01_12_a_list_inside_a_text_is_decoded_where_a_list_is_wanted(tmp_path: Path) -> None:
    sent = json.dumps({"tags": '["a", "b"]', "q": "[1, 2]"})
    assert await done_by(tmp_path, asks(call("find", sent, index=0, id="a"))) == [
        found("[1, 2]", tags=["a", "b"])
    ]


@law("MODEL-1.b")
@pytest.mark.parametrize(
    ("deltas", "meant"),
    [
        pytest.param(
            [call("find", '{"q":', id="a1"), call(None, '"x"}')], [found("x")], id="g02_01 no index, no id"
        ),
        pytest.param([call("find", "", index=0), call(None, '{"q":"x"}', index=0)], [found("x")], id="g02_02 no id"),
        pytest.param(
            [call("find", '{"q":"oslo"}', index=0, id="c1"), call("find", '{"q":"bergen"}', index=0, id="c2")],
            [found("oslo"), found("bergen")],
            id="g02_03 one index",
        ),
        pytest.param([call("find", {"q": "x"}, index=0, id="a")], [found("x")], id="g02_06 an object"),
        pytest.param([call("find", None, index=0, id="a")], [found()], id="g02_06 null"),
        pytest.param([call("find", "null", index=0, id="a")], [found()], id="g02_06 a text of null"),
        pytest.param(
            [call("find", '{"n":1}', index=0, id="x1"), call("find", '{"n":2}', index=1, id="x1")],
            [found(n=1), found(n=2)],
            id="g03_08 one id",
        ),
        pytest.param(
            [call("wipe", "", index=0, id="a"), call(None, '{"path":', index=0, id="b"), call(None, '"x"}', index=0, id="c")],
            [("wipe", {"path": "x"})],
            id="an id made up for every delta",
        ),
        pytest.param(
            [call("wipe", "", index=0, id="a"), call(None, '{"path":', index=1), call(None, '"x"}', index=2)],
            [("wipe", {"path": "x"})],
            id="an index that counts deltas",
        ),
        pytest.param(
            [call("wipe", "", index=0, id="a"), call(None, '{"path":"x"}', index=1, id="b")],
            [("wipe", {"path": "x"})],
            id="an index and an id that count deltas",
        ),
        pytest.param(
            [call("find", '{"q":', index="0", id="a"), call("find", '{"q":"y"}', index="1", id="b"), call(None, '"x"}', index=0)],
            [found("x"), found("y")],
            id="an index as text, calls interleaved",
        ),
        pytest.param(
            [call("find", '{"q":"\\', index=0, id="a"), call(None, "u00", index=0), call(None, 'e9"}', index=0)],
            [found("é")],
            id="cut inside an escape",
        ),
    ],
)  # fmt: skip
async def test_calls_are_run_as_they_were_meant(
    tmp_path: Path, deltas: list[dict[str, Any]], meant: list[tuple[str, dict[str, Any]]]
) -> None:
    assert sorted(map(canonical_json, await done_by(tmp_path, asks(*deltas)))) == sorted(
        map(canonical_json, meant)
    )


async def test_characters_cut_between_events_are_whole_in_the_tool(tmp_path: Path) -> None:
    """The bytes of one character, and the halves of another, in events of their own."""
    head, tail = b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{', b"}}]}}]}\n\n"
    first = head + b'"name":"find","arguments":"{\\"q\\":\\"\xe9\x93"' + tail
    second = head + b'"arguments":"\x81\\ud83d"' + tail
    third = head + b'"arguments":"\\ude42\\"}"' + tail
    reply = bytewise(first + second + third + sse(delta("tool_calls"), DONE))
    assert await done_by(tmp_path, reply) == [found("铁🙂")]


@pytest.mark.parametrize(
    "function",
    [
        pytest.param([{"name": "find", "arguments": '{"q"'}, {"arguments": ':"x"}'}], id="in pieces"),
        pytest.param([{"name": "find", "arguments": '{"q":"x"}'}], id="whole"),
    ],
)
async def test_a_call_in_the_old_form_is_run(tmp_path: Path, function: list[dict[str, str]]) -> None:
    stream = sse(*(delta(function_call=piece) for piece in function), delta("function_call"), DONE)
    assert await done_by(tmp_path, bytewise(stream)) == [found("x")]


async def test_g02_08_keep_alives_between_chunks_change_nothing(tmp_path: Path) -> None:
    noise = b": PROCESSING\n\n:\n\ndata: : PROCESSING\n\nevent: ping\ndata: {}\n\n"
    chunks = sse(delta(tool_calls=[call("find", '{"q":"x"}', index=0, id="a")]), delta("tool_calls"), DONE)
    stream = noise.join(b"id: 7\n" + chunk + b"\n\n" for chunk in chunks.split(b"\n\n") if chunk)
    assert await done_by(tmp_path, bytewise(noise + stream)) == [found("x")]


@law("MODEL-1.d")
async def test_g02_16_reasoning_is_echoed_once_it_is_demanded_and_dropped_once_it_is_unknown(
    tmp_path: Path,
) -> None:
    thinks = bytewise(
        sse(
            delta(reasoning_content="need the clock"),
            delta(tool_calls=[call("find", "{}", index=0, id="c1")]),
            delta("tool_calls"),
            DONE,
        )
    )

    def wanting(request: Received) -> Reply:
        if "reasoning_content" not in request.body["messages"][2]:
            return json_reply({"error": {"message": "reasoning_content must be passed back"}}, 400)
        return ENDED

    async with served(tmp_path, thinks, wanting, wanting) as scene:
        assert (await scene.play())[0]["answer"] == "Done."
        assert scene.sent()[2]["reasoning_content"] == "need the clock"
        assert len(scene.endpoint.received) == 3


@law("MODEL-1.f")
@pytest.mark.parametrize(
    ("param", "words", "kept"),
    [
        ("stream_options", "Unknown parameter", ["temperature", "tools"]),
        ("temperature", "Unsupported value: only the default (1) is supported", ["stream_options", "tools"]),
    ],
)
async def test_g02_17_what_is_refused_by_name_is_left_out_alone_and_once(
    tmp_path: Path, param: str, words: str, kept: list[str]
) -> None:
    def picky(request: Received) -> Reply:
        if param in request.body:
            return json_reply(
                {"error": {"code": "unsupported_parameter", "param": param, "message": words}}, 400
            )
        return ENDED

    async with served(tmp_path, picky) as scene:
        for _ in range(2):
            assert (await scene.play())[0]["answer"] == "Done."
        assert [param in request.body for request in scene.endpoint.received] == [True, False, False]
        assert all(name in scene.endpoint.received[-1].body for name in kept)


async def test_g03_05_a_broken_call_beside_a_whole_one_leaves_the_thread_usable(tmp_path: Path) -> None:
    calls = asks(call("find", '{"path": "a', index=0, id="c1"), call("find", '{"q":"x"}', index=1, id="c2"))
    async with served(tmp_path, calls, ENDED) as scene:
        shown, _ = await scene.play()
        run = await scene.harness.start(task="t", input="And now?", thread_id=shown["thread_id"])
        assert (await run.result())["answer"] == "Done."
        assert scene.done == [found("x")]
        assert fault_in(scene.sent()) == ""
