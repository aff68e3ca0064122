"""Prices and windows: known for public endpoints, never guessed for others."""

import pytest

from outlast.adapters.catalogue.genai_prices import find_model


@pytest.mark.parametrize(
    ("base_url", "model"),
    [
        ("https://api.openai.com/v1", "gpt-4o"),
        ("https://api.deepseek.com/v1", "deepseek-chat"),
        ("https://api.mistral.ai/v1", "mistral-large-latest"),
    ],
)
def test_a_well_known_model_at_its_own_address_has_a_price(base_url: str, model: str) -> None:
    known = find_model(base_url, model)
    assert known is not None
    assert known.price is not None
    assert 0 < known.price.input_usd <= known.price.output_usd


def test_a_window_comes_with_it_where_the_table_has_one() -> None:
    known = find_model("https://api.deepseek.com/v1", "deepseek-chat")
    assert known is not None
    assert known.window_tokens is not None
    assert known.window_tokens >= 32_000


@pytest.mark.parametrize(
    ("base_url", "model"),
    [
        ("http://127.0.0.1:8000/v1", "gpt-4o"),
        ("http://localhost:11434/v1", "deepseek-chat"),
        ("http://[::1]:8000/v1", "gpt-4o"),
        ("http://10.0.0.7/v1", "gpt-4o"),
        ("http://gateway/v1", "gpt-4o"),
        ("http://models.internal/v1", "gpt-4o"),
        ("https://models.example.com/v1", "gpt-4o"),
        ("https://api.openai.com/v1", "a-model-nobody-knows"),
        ("", "gpt-4o"),
    ],
)
def test_nothing_is_known_of_other_addresses_and_models(base_url: str, model: str) -> None:
    assert find_model(base_url, model) is None
