"""Embeddings of an endpoint: the contract, and every way of answering badly."""

from collections.abc import AsyncIterator, Callable

import pytest

from outlast.adapters.embedders.offline.ngrams import _embedded
from outlast.adapters.embedders.openai_compatible import TEXTS_A_REQUEST, OpenAIEmbedder
from outlast.domain.errors import Broken, CallerMistake, OutlastError, Passing
from outlast.ports.embedder import Embedder
from outlast.testing.contracts.embedder import EmbedderContract
from tests.fake_endpoint import Received, Reply, Then, json_reply, playing
from tests.law import law

KEY = "sk-very-secret-key"


def answering(rows: object, status: int = 200) -> Callable[[Received], Reply]:
    """An endpoint that answers always the same."""
    return lambda _: json_reply(rows, status)


def by_letters(request: Received) -> Reply:
    """An endpoint that embeds by letters, and answers in the wrong order."""
    rows = [
        {"index": at, "embedding": list(vector.values() if (vector := _embedded(text)) else [1.0] * 256)}
        for at, text in enumerate(request.body["input"])
    ]
    return answering({"data": rows[::-1]})(request)


class TestOpenAIEmbedder(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> AsyncIterator[Embedder]:
        async with playing(*[by_letters] * 20) as endpoint:
            yield OpenAIEmbedder(endpoint.base_url, "letters", KEY)


@law("MODEL-1.g")
async def test_what_is_asked_of_the_endpoint() -> None:
    async with playing(*[by_letters] * 20) as endpoint:
        embedder = OpenAIEmbedder(endpoint.base_url + "/", "letters", KEY)
        assert await embedder.space() == "letters/256"
        await embedder.embed([*["a tide"] * TEXTS_A_REQUEST, "", "last"], "passage")
        assert await embedder.space() == "letters/256"
    assert [len(request.body["input"]) for request in endpoint.received] == [1, TEXTS_A_REQUEST, 1]
    assert endpoint.received[0].path.endswith("/embeddings")
    assert endpoint.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(embedder)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (answering({}, 429), Passing),
        (answering({}, 503), Passing),
        (lambda _: Reply((Then.DROP,)), Passing),
        (lambda _: Reply((Then.HANG,)), Passing),
        (answering({"error": f"bad key {KEY}"}, 401), Broken),
        (answering({"data": []}), Broken),
        (answering([1, 2]), Broken),
        (answering({"data": [{"index": 1, "embedding": [1.0]}]}), Broken),
        (answering({"error": "Invalid model: too many cooks"}, 400), Broken),
        (answering({"data": [{"index": 0, "embedding": [0.0, 0.0]}]}), Broken),
        (answering({"data": [{"index": 0, "embedding": ["x"]}]}), Broken),
        (lambda _: Reply((b"<html>",)), Broken),
    ],
)
async def test_a_bad_answer_is_an_error_that_says_who_must_act(
    answer: Callable[[Received], Reply], kind: type[OutlastError]
) -> None:
    async with playing(answer) as endpoint:
        embedder = OpenAIEmbedder(endpoint.base_url, "letters", KEY, timeout_seconds=0.5)
        with pytest.raises(kind) as failed:
            await embedder.embed(["a tide"], "query")
    assert failed.value.code == ("embedder_unavailable" if kind is Passing else "embedder_broken")
    assert failed.value.next_step
    assert KEY not in str(failed.value)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "This model's maximum context length is 512 tokens, however you requested 900 tokens"),
        (413, "Input validation error: `inputs` must have less than 512 tokens. Given: 900"),
        (400, "the input length exceeds the context length"),
        (422, "input is too large to process. increase the physical batch size"),
    ],
)
async def test_what_is_too_long_for_the_endpoint_is_embedded_by_its_beginning(
    status: int, words: str
) -> None:
    """One long text among many must not keep all of them from being found by their sense."""

    def short_sighted(request: Received) -> Reply:
        if any(len(text) > 1_100 for text in request.body["input"]):
            return json_reply({"error": {"message": words}}, status)
        return by_letters(request)

    async with playing(short_sighted) as endpoint:
        embedder = OpenAIEmbedder(endpoint.base_url, "letters")
        texts = ["a tide", "long " * 1_500, "a flood", "longer " * 1_000]
        vectors = await embedder.embed(texts, "passage")
        asked = len(endpoint.received)
        again = await embedder.embed(texts, "passage")
    assert all(vector is not None for vector in vectors)
    assert vectors[0] != vectors[2]
    assert asked < 16
    assert len(endpoint.received) == asked + 1
    assert None not in again


async def test_two_vectors_for_one_text_are_not_taken_for_those_of_two() -> None:
    rows = [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]
    async with playing(answering({"data": rows})) as endpoint:
        with pytest.raises(Broken, match="vectors for"):
            await OpenAIEmbedder(endpoint.base_url, "letters").embed(["a", "b"], "query")


async def test_an_endpoint_that_is_not_there_may_come_back() -> None:
    with pytest.raises(Passing) as failed:
        await OpenAIEmbedder("http://127.0.0.1:9/v1", "letters").embed(["a tide"], "query")
    assert failed.value.code == "embedder_unavailable"


@pytest.mark.parametrize("address", ["", "ftp://host/v1", "host/v1", "https://user:pass@host/v1"])
def test_what_is_no_address_is_refused_at_once(address: str) -> None:
    with pytest.raises(CallerMistake) as refused:
        OpenAIEmbedder(address, "letters")
    assert refused.value.code == "invalid_base_url"


def test_a_key_no_header_can_carry_is_refused_at_once() -> None:
    with pytest.raises(CallerMistake) as refused:
        OpenAIEmbedder("https://host/v1", "letters", "sk with spaces")
    assert refused.value.code == "invalid_api_key"
