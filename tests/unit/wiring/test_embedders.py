"""The embedder of a configuration."""

from pathlib import Path

import pytest

from outlast.domain.errors import CallerMistake
from outlast.wiring.embedders import embedder_of
from outlast.wiring.settings.load import load
from outlast.wiring.settings.tree import Settings

LLM = "llm: {provider: openai_compatible, base_url: 'https://a.example/v1', api_key: '${K}', model: m}\n"


def settings(folder: Path, text: str) -> Settings:
    path = folder / "outlast.yaml"
    path.write_text(text, "utf-8")
    return load(path)


async def test_texts_are_embedded_offline_unless_something_else_is_configured(tmp_path: Path) -> None:
    embedder = embedder_of(settings(tmp_path, ""), {})
    assert await embedder.space() == "all-minilm-l6-v2-int8/384"
    await embedder.close()


async def test_without_the_extra_texts_are_embedded_by_their_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outlast.adapters.embedders.offline.choice.find_spec", lambda name: None)
    assert await embedder_of(settings(tmp_path, ""), {}).space() == "letter-ngrams-1/256"


@pytest.mark.parametrize(
    ("memory", "place"),
    [
        ("{embedder: openai_compatible, model: small}", "https://a.example/v1/embeddings"),
        (
            "{embedder: openai_compatible, model: small, base_url: 'https://b.example/v1'}",
            "https://b.example/v1/embeddings",
        ),
    ],
)
def test_an_endpoint_is_that_of_the_model_or_one_of_its_own(tmp_path: Path, memory: str, place: str) -> None:
    embedder = embedder_of(settings(tmp_path, f"{LLM}memory: {memory}\n"), {"K": "canary"})
    assert place in repr(embedder)
    sends_key = vars(embedder)["_key"] == "canary"
    assert sends_key == ("a.example" in place)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (LLM + "memory: {embedder: openai_compatible}\n", "memory.model"),
        ("memory: {embedder: openai_compatible, model: small}\n", "memory.base_url"),
    ],
)
def test_what_an_endpoint_lacks_is_named(tmp_path: Path, text: str, missing: str) -> None:
    with pytest.raises(CallerMistake) as refused:
        embedder_of(settings(tmp_path, text), {"K": "x"})
    assert refused.value.code == "missing_setting"
    assert missing in str(refused.value)
