"""The call over a real socket."""

import asyncio
import json
import logging
import traceback
from contextlib import suppress
from itertools import repeat

import pytest

from outlast.adapters.providers.openai_compatible import OpenAICompatible, client
from outlast.domain.errors import CallerMistake, ModelCallFailed
from outlast.ports.provider import Delta
from tests.fake_endpoint import DONE, SAYS_HELLO, Received, Reply, Then, delta, json_reply, playing, sse
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.adapters.providers.asking import a_request, as_message, ask

KEY = "sk-verysecret1234567890"
SCHEMA = {"type": "object", "properties": {}}


async def failing(base_url: str, **options: float) -> ModelCallFailed:
    provider = OpenAICompatible(base_url, KEY, **options)
    with pytest.raises(ModelCallFailed) as caught:
        await ask(provider, a_request("go"))
    await provider.close()
    return caught.value


@law("MODEL-1.a")
async def test_a_call_is_one_post_with_the_key_and_streams_its_pieces() -> None:
    pieces: list[Delta] = []
    async with playing(Reply([SAYS_HELLO[at : at + 1] for at in range(len(SAYS_HELLO))])) as endpoint:
        provider = OpenAICompatible(f"{endpoint.base_url}/", f"{KEY}\n")
        answer = await provider.answer(a_request("go"), pieces.append)
        await provider.close()
    assert answer.text == "".join(piece.text for piece in pieces) == "Guten Tag, 你好 🙂"
    (received,) = endpoint.received
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"


async def test_without_a_key_none_is_sent_and_a_query_is_kept() -> None:
    async with playing(Reply([SAYS_HELLO])) as endpoint:
        provider = OpenAICompatible(f"{endpoint.base_url}/chat/completions?api-version=7")
        await ask(provider, a_request("go"))
        await provider.close()
    (received,) = endpoint.received
    assert received.path == "/v1/chat/completions?api-version=7"
    assert "authorization" not in received.headers


async def test_the_environment_does_not_reach_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with playing(Reply([SAYS_HELLO])) as endpoint:
        provider = OpenAICompatible(endpoint.base_url)
        assert (await ask(provider, a_request("go"))).text
        await provider.close()


@pytest.mark.parametrize(
    ("reply", "fault", "wait_seconds"),
    [
        (json_reply({"error": {"message": "slow down"}}, 429, retry_after="7"), "rate_limit", 7),
        (json_reply({"error": {"message": "slow down"}}, 429, retry_after_ms="1500"), "rate_limit", 1.5),
        (
            json_reply(
                {"error": "slow"},
                429,
                retry_after="Wed, 21 Oct 2026 07:28:00 GMT",
                date="Wed, 21 Oct 2026 07:27:50 GMT",
            ),
            "rate_limit",
            10,
        ),
        (json_reply({"error": {"message": "bad key"}}, 401), "auth", None),
        (
            json_reply({"error": {"code": "context_length_exceeded", "message": "long"}}, 400),
            "context_exceeded",
            None,
        ),
        (json_reply({"error": {"message": "boom"}}, 500), "overload", None),
        (Reply([b"<html>busy</html>", Then.DROP], 503), "overload", None),
        (Reply([], 302, {"location": "http://127.0.0.1:9/"}), "bad_request", None),
        (Reply([b"<html>Log in</html>"], 200, {"content-type": "text/html"}), "bad_request", None),
        (json_reply({"error": {"message": "busy", "code": 503}}), "overload", None),
        (json_reply({"choices": []}), "cut_stream", None),
        (Reply([b"{"], 200, {"content-type": "application/json"}), "cut_stream", None),
        (Reply([sse(delta(content="The total is "))]), "cut_stream", None),
        (Reply([sse(delta(content="The total is ")), Then.DROP]), "cut_stream", None),
        (Reply([sse(delta(content="The total is "), {"error": "x"}, DONE)]), "cut_stream", None),
        (Reply([Then.DROP]), "cut_stream", None),
    ],
)
async def test_every_trouble_is_classified_and_says_what_to_do(
    reply: Reply, fault: str, wait_seconds: float | None
) -> None:
    async with playing(reply) as endpoint:
        failure = await failing(endpoint.base_url)
    assert (failure.fault, failure.retry_after_seconds) == (fault, wait_seconds)
    assert failure.code == f"model_{fault}"
    assert "127.0.0.1" in failure.detail
    assert failure.next_step


async def test_what_a_broken_answer_used_up_is_told() -> None:
    stated = {**delta(content="x"), "usage": {"prompt_tokens": 90, "completion_tokens": 10}}
    async with playing(Reply([sse(stated), Then.DROP])) as endpoint:
        assert (await failing(endpoint.base_url)).spent_tokens == 100
    async with playing(Reply([sse(delta(content="x"))])) as endpoint:
        assert (await failing(endpoint.base_url)).spent_tokens > 0


async def test_nobody_at_the_address_is_unreachable() -> None:
    async with playing(Reply()) as endpoint:
        address = endpoint.base_url
    failure = await failing(address)
    assert failure.fault == "unreachable"
    assert "llm.base_url" in failure.next_step


@pytest.mark.parametrize(
    "sent", [[Then.HANG], [b": wait\n\n", Then.HANG], [sse(delta(content="x")), Then.HANG]]
)
async def test_silence_is_a_timeout_and_gives_the_connection_up(sent: list[bytes | Then]) -> None:
    async with playing(Reply(sent)) as endpoint:
        failure = await failing(endpoint.base_url, timeout_seconds=0.3, idle_timeout_seconds=0.1)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await endpoint.dropped.wait()
    assert failure.fault == "timeout"


async def test_g02_08_keep_alives_hold_off_the_idle_timer_but_not_the_one_for_progress() -> None:
    async with playing(Reply(repeat(b": wait\n\n"))) as endpoint:
        failure = await failing(endpoint.base_url, timeout_seconds=0.3, idle_timeout_seconds=10)
    assert failure.fault == "timeout"
    assert "stopped sending the answer" in failure.detail


async def test_an_answer_that_drips_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MAX_ANSWER_SECONDS", 0.3)
    async with playing(Reply(repeat(sse(delta(content="a"))))) as endpoint:
        failure = await failing(endpoint.base_url)
    assert failure.fault == "timeout"
    assert failure.spent_tokens > 0


async def test_an_answer_longer_than_any_is_given_up_and_not_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "MAX_ANSWER_BYTES", 10_000)
    for content_type in ("text/event-stream", "application/json"):
        piece = sse(delta(content="a")) if "event" in content_type else b'{"a": "aaaaaaaaaaaaaaaaaaa'
        async with playing(Reply(repeat(piece), 200, {"content-type": content_type})) as endpoint:
            failure = await failing(endpoint.base_url)
        assert failure.fault == "bad_request"
        assert "longer than" in failure.detail


@pytest.mark.parametrize("content_type", ["text/plain", "text/event-stream", "application/json", "x"])
async def test_what_a_body_is_shows_in_its_first_sign_not_in_its_headers(content_type: str) -> None:
    whole = json.dumps({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}).encode()
    chunks = json.dumps([delta(content="H"), delta(content="i"), delta("stop")]).encode()
    streamed = sse(delta(content="Hi"), delta("stop"))
    for body in (
        b"\xef\xbb\xbf" + whole,
        b" \r\n " + whole,
        chunks,
        streamed,
        b"\xef\xbb\xbf\n\n" + streamed,
    ):
        pieces = [body[at : at + 1] for at in range(len(body))]
        async with playing(Reply(pieces, 200, {"content-type": content_type})) as endpoint:
            provider = OpenAICompatible(endpoint.base_url)
            assert (await ask(provider, a_request("go"))).text == "Hi"
            await provider.close()


async def test_a_body_that_is_no_answer_is_told_in_its_own_words() -> None:
    async with playing(json_reply({"code": "InvalidParameter", "message": "no such model"})) as endpoint:
        failure = await failing(endpoint.base_url)
    assert failure.fault == "bad_request"
    assert "no such model" in failure.detail


@pytest.mark.parametrize("then", [Then.HANG, Then.DROP])
async def test_an_ended_answer_stands_though_the_connection_does_not_end_well(then: Then) -> None:
    async with playing(Reply([sse(delta(content="yes"), delta("stop")), then])) as endpoint:
        provider = OpenAICompatible(endpoint.base_url, idle_timeout_seconds=0.1)
        assert (await ask(provider, a_request("go"))).text == "yes"
        await provider.close()


async def test_a_connection_left_open_after_the_last_word_is_given_up() -> None:
    async with playing(Reply([SAYS_HELLO, Then.HANG])) as endpoint:
        provider = OpenAICompatible(endpoint.base_url)
        assert (await ask(provider, a_request("go"))).text
        async with asyncio.timeout(PATIENCE_SECONDS):
            await endpoint.dropped.wait()
        await provider.close()


async def test_a_connection_left_open_after_an_error_is_given_up() -> None:
    async with playing(Reply([sse({"error": "busy"}), Then.HANG])) as endpoint:
        provider = OpenAICompatible(endpoint.base_url)
        with pytest.raises(ModelCallFailed):
            await ask(provider, a_request("go"))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await endpoint.dropped.wait()
        await provider.close()


async def test_calls_one_after_the_other_share_a_connection() -> None:
    async with playing(
        Reply([SAYS_HELLO]), json_reply({"error": "busy"}, 503), Reply([SAYS_HELLO])
    ) as endpoint:
        provider = OpenAICompatible(endpoint.base_url)
        await ask(provider, a_request("go"))
        with pytest.raises(ModelCallFailed):
            await ask(provider, a_request("go"))
        await ask(provider, a_request("go"))
        assert endpoint.connections == 1
        await provider.close()


@law("MODEL-1.f")
async def test_what_a_model_refuses_is_left_out_and_remembered_for_it() -> None:
    def picky(request: Received) -> Reply:
        for name in ("response_format", "stream_options", "temperature"):
            kind = request.body.get("response_format", {}).get("type")
            if request.body["model"] == "picky" and name in request.body and kind != "json_object":
                return json_reply({"error": {"message": "Unsupported parameter", "param": name}}, 400)
        return Reply([SAYS_HELLO])

    async with playing(picky) as endpoint:
        provider = OpenAICompatible(endpoint.base_url)
        for model in ("picky", "picky", "easy"):
            await ask(provider, a_request("go", model=model, response_schema=SCHEMA))
        await provider.close()
    kinds = [request.body["response_format"]["type"] for request in endpoint.received]
    assert kinds == ["json_schema", "json_object", "json_object", "json_schema"]


@law("MODEL-1.d")
async def test_g02_16_reasoning_is_kept_and_goes_back_to_a_model_that_wants_it() -> None:
    def strict(request: Received) -> Reply:
        thought = [
            message.get("reasoning_content")
            for message in request.body["messages"]
            if message["role"] == "assistant"
        ]
        if thought == [None]:
            return json_reply({"error": {"message": "reasoning_content must be passed back"}}, 400)
        return Reply([SAYS_HELLO])

    async with playing(strict) as endpoint:
        provider = OpenAICompatible(endpoint.base_url)
        first = await ask(provider, a_request("go"))
        await ask(provider, a_request("go", as_message(first), "on"))
        await provider.close()
    sent = endpoint.received[-1].body["messages"][1]
    assert sent["reasoning_content"] == first.reasoning == "They greet."


async def test_refusing_for_ever_ends_the_call() -> None:
    flip = {"n": 0}

    def contrary(request: Received) -> Reply:
        flip["n"] += 1
        wish = "must be passed back" if flip["n"] % 2 else "is an unknown field"
        return json_reply({"error": {"message": f"reasoning_content {wish}"}}, 400)

    async with playing(contrary) as endpoint:
        assert (await failing(endpoint.base_url)).fault == "bad_request"
    assert len(endpoint.received) == 5


async def test_the_key_is_in_no_error_log_or_repr(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = {"error": {"message": f"Incorrect API key {KEY} (also sk-other-98765432) in Bearer {KEY}"}}
    for reply in (
        json_reply(echo, 401),
        json_reply(echo),
        Reply([sse(echo)]),
        Reply([sse(f"nonsense {KEY}"), Then.DROP]),
    ):
        async with playing(reply) as endpoint:
            failure = await failing(endpoint.base_url)
        told = "".join(traceback.format_exception(failure)) + repr(failure) + failure.next_step
        assert KEY not in told
        assert "sk-other" not in told
    assert KEY not in caplog.text
    assert KEY not in repr(OpenAICompatible("http://127.0.0.1:9/v1?key=hidden", KEY))
    assert "hidden" not in repr(OpenAICompatible("http://127.0.0.1:9/v1?key=hidden", KEY))


@pytest.mark.parametrize(
    "address",
    [
        "",
        "api.example/v1",
        "ftp://host/v1",
        "https://",
        "https://me:pw@host/v1",
        "http://host:port/v1",
        "http://[::1",
    ],
)
def test_an_address_that_cannot_be_right_is_refused_at_once(address: str) -> None:
    with pytest.raises(CallerMistake) as caught:
        OpenAICompatible(address)
    assert caught.value.code == "invalid_base_url"
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("key", ["two words", "line\nend", "schlüssel"])
def test_a_key_no_header_can_carry_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(CallerMistake) as caught:
        OpenAICompatible("http://127.0.0.1:9", key)
    assert caught.value.code == "invalid_api_key"
    assert key not in str(caught.value)


async def test_a_closed_provider_says_so() -> None:
    provider = OpenAICompatible("http://127.0.0.1:9")
    await provider.close()
    with pytest.raises(CallerMistake, match="closed"):
        await ask(provider, a_request("go"))


async def test_a_kept_connection_the_server_gave_up_meanwhile_costs_no_failure() -> None:
    """The server takes one request a connection, says that it keeps it, and hangs up on the next."""
    requests = 0
    serving: list[asyncio.Task[None]] = []
    said = json.dumps({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(said)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        task = asyncio.current_task()
        assert task is not None
        serving.append(task)
        with suppress(asyncio.IncompleteReadError):
            for answer in (head + said, b""):
                asked = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(asked.partition(b"content-length:")[2].split(b"\r")[0]))
                requests += 1
                writer.write(answer)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    provider = OpenAICompatible(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    try:
        for _ in range(2):
            assert (await ask(provider, a_request("go"))).text == "Hi"
        assert requests == 3
    finally:
        await provider.close()
        server.close()
        await asyncio.gather(*serving)
