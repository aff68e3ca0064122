"""Troubles of model servers through the whole path: a real socket, each byte alone, a harness, its tools, its journal."""

from pathlib import Path
from typing import Any

import pytest

from outlast.api.harness import Harness
from tests.endpoint_stage import bytewise, call, says, seconds_between, served
from tests.fake_endpoint import DONE, Received, Reply, delta, json_reply, sse
from tests.law import law

ENDED = says("Done.")
CUT = bytewise(sse(delta(content="Let me compare the two files:")))


@law("MODEL-5.f")
@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(
            bytewise(sse(delta(content="The total is "), {"error": {"message": "worker limit reached", "code": 502}}, DONE)),
            id="g02_07 an error",
        ),
        pytest.param(bytewise(sse(delta(content="The total is "), {"error": "gone"}, DONE)), id="g02_07 a bare text"),
        pytest.param(
            bytewise(sse(delta(content="The total is ")) + b"event: error\ndata: boom\n\n"), id="g02_07 an event"
        ),
        pytest.param(CUT, id="g02_09 a clean end without an end"),
        pytest.param(
            bytewise(sse(delta(tool_calls=[call("wipe", '{"path":"/a"}', index=0, id="a")]))), id="g02_09 a whole call, no end"
        ),
        pytest.param(bytewise(sse(delta("null", content="The"))), id="a finish of null as text"),
        pytest.param(
            bytewise(sse(
                delta(tool_calls=[call("wipe", '{"path":"/a', index=0, id="a")]),
                '{"choices":[{"delta":{"tool_calls":[{"index":0,"func',
                delta(tool_calls=[call(None, '"}', index=0)]),
                delta("tool_calls"),
                DONE,
            )),
            id="a delta that was damaged",
        ),
        pytest.param(bytewise(sse(delta("tool_calls"), DONE)), id="a call promised and not made"),
        pytest.param(
            bytewise(sse('{"choices":[{"delta":{"tool_calls":[{"function":{"name":"wipe","arguments":{"path":"x","path":"y"}}}]}}]}',
                         delta("tool_calls"), DONE)),
            id="arguments as an object that names a key twice",
        ),
        pytest.param(json_reply({"choices": []}), id="a body without a choice"),
    ],
)  # fmt: skip
async def test_what_broke_off_is_asked_for_again_and_is_no_answer(tmp_path: Path, broken: Reply) -> None:
    async with served(tmp_path, broken, ENDED) as scene:
        shown, lines = await scene.play()
        assert (shown["answer"], scene.done) == ("Done.", [])
        (failed,) = [line for line in lines if line["kind"] == "ModelFailed"]
        assert failed["error"]["code"] in ("model_cut_stream", "model_overload")
        assert len(scene.endpoint.received) == 2


@law("MODEL-5.f", "MODEL-5.g")
async def test_g02_09_what_breaks_off_again_and_again_ends_the_run_without_an_answer(tmp_path: Path) -> None:
    async with served(tmp_path, CUT) as scene:
        shown, _ = await scene.play()
        assert (shown["state"], shown["error"]["code"]) == ("FAILED", "model_cut_stream")
        assert shown.get("answer") is None
        assert len(scene.endpoint.received) == shown["steps"] == 3
        assert shown["tokens"] > 0


@law("MODEL-5.a")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7),
        ({"retry_after": "1.5"}, 1.5),
        ({"retry_after_ms": "1500"}, 1.5),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:10 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 10),
        ({"retry_after": "86400"}, 86_400),
        ({"retry_after": "99999999999999"}, 86_400),
        ({"retry_after": "Wed, 21 Oct 9999 07:28:00 GMT"}, 86_400),
        ({}, 25),
    ],
)
async def test_g02_12_a_wait_is_kept_by_a_timer_and_holds_no_worker(
    tmp_path: Path, headers: dict[str, str], seconds: float
) -> None:
    refused = json_reply({"error": {"message": "please retry after 25s"}}, 429, **headers)
    async with served(tmp_path, refused, ENDED) as scene:
        run = await scene.harness.start(task="t", input="Go")
        failed = await scene.line_of(run, "ModelFailed")
        assert failed["error"]["code"] == "model_rate_limit"
        wait = seconds_between(failed["at"], failed["data"]["retry_at"])
        assert seconds - 0.1 <= wait <= seconds * 1.2 + 0.1
        if seconds > 60:
            assert "wait" in (await scene.line_of(run, "RunReleased"))["data"]["reason"]


@law("MODEL-5.c", "MODEL-5.d")
@pytest.mark.parametrize(
    ("status", "body", "requests"),
    [
        (400, {"error": {"message": "Input tokens exceed the configured limit of 1000 tokens"}}, 2),
        (
            400,
            {
                "error": {
                    "message": "The input (9000 tokens) is longer than the model's context length (8192 tokens)."
                }
            },
            2,
        ),
        (400, {"error": {"type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256}}, 2),
        (500, {"error": {"type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256}}, 2),
        (413, {}, 2),
        (400, {"error": {"message": "too large for model"}}, 2),
        (400, {"error": {"message": "Invalid schema for function 'find'"}}, 1),
    ],
)
async def test_g02_13_a_context_too_long_is_folded_once_and_asked_once_more(
    tmp_path: Path, status: int, body: dict[str, Any], requests: int
) -> None:
    async with served(tmp_path, json_reply(body, status)) as scene:
        shown, lines = await scene.play()
        code = "model_context_exceeded" if requests == 2 else "model_bad_request"
        assert (shown["state"], shown["error"]["code"]) == ("FAILED", code)
        assert shown["error"]["next"]
        assert len(scene.endpoint.received) == requests
        assert all(line["error"]["code"] == code for line in lines if line["kind"] == "ModelFailed")


@law("MODEL-1.e")
@pytest.mark.parametrize(
    ("chunks", "tokens", "usd"),
    [
        ([{"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25}}], 15, 0.25),
        ([{"choices": [], "usage": None}], None, 0),
        (
            [{"choices": [], "usage": {"prompt_tokens": 10**400, "completion_tokens": 5, "cost": 1e300}}],
            None,
            0,
        ),
        (['{"choices": [], "usage": {"prompt_tokens": -5, "completion_tokens": NaN, "cost": NaN}}'], None, 0),
        (['{"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "cost": -1}}'], 15, 0),
    ],
)
async def test_g02_15_usage_is_what_was_stated_or_an_estimate_and_never_nonsense(
    tmp_path: Path, chunks: list[object], tokens: int | None, usd: float
) -> None:
    first = {"id": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
    stream = sse(first, {**delta(content="Hi"), "usage": None}, delta("stop"), *chunks, DONE)
    async with served(tmp_path, bytewise(stream)) as scene:
        shown, lines = await scene.play()
        answered = next(line for line in lines if line["kind"] == "ModelAnswered")
        assert shown["answer"] == "Hi"
        assert shown["cost_usd"] == usd
        assert answered["data"].get("is_estimate", False) is (tokens is None)
        assert 0 < shown["tokens"] < 2_000
        assert tokens in (None, shown["tokens"])


@law("MODEL-1.f")
async def test_g02_17_what_one_process_learned_the_next_one_knows(tmp_path: Path) -> None:
    def picky(request: Received) -> Reply:
        if "stream_options" in request.body:
            return json_reply({"error": {"message": "Unknown parameter: stream_options"}}, 400)
        return ENDED

    async with served(tmp_path, picky, backend="sqlite") as scene:
        await scene.play()
        assert len(scene.endpoint.received) == 2
        async with Harness.open(tmp_path / "outlast.yaml", tools=scene.tools) as another:
            run = await another.start(task="t", input="Go")
            assert (await run.result())["answer"] == "Done."
        assert len(scene.endpoint.received) == 3
        assert (tmp_path / ".outlast/models.json").exists()


@pytest.mark.parametrize("finish", ["stop", "length", "content_filter"])
@pytest.mark.parametrize("words", ["", "Half an"])
async def test_an_answer_that_is_empty_or_cut_is_asked_for_again_and_never_taken_for_whole(
    tmp_path: Path, finish: str, words: str
) -> None:
    cut = bytewise(sse(delta(content=words), delta(finish), DONE))
    async with served(tmp_path, cut, ENDED) as scene:
        shown, _ = await scene.play()
        is_whole = finish == "stop" and bool(words)
        assert shown["answer"] == ("Half an" if is_whole else "Done.")
        assert is_whole or "cannot be used" in scene.sent()[-1]["content"]
        assert shown["outcome"] == "full"
    async with served(tmp_path, cut) as scene:
        shown, _ = await scene.play()
        expected = (
            ("COMPLETED", "full") if is_whole else ("COMPLETED", "partial") if words else ("FAILED", None)
        )
        assert (shown["state"], shown["outcome"]) == expected
        assert is_whole or shown["error"]["code"] == ("answer_cut" if words else "no_answer")
        assert is_whole or shown["error"]["next"]
