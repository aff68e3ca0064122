"""The offline estimate of tokens."""

import time

import pytest

from outlast.adapters.providers.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("The quick brown fox jumps over the lazy dog", 8, 12),
        ("市场规模与趋势", 5, 10),
        ("Привет, как дела сегодня?", 8, 14),
        ('{"query": "market size 2026", "top_k": 8}', 12, 22),
        ("🙂", 1, 4),
        ("\ud800", 1, 3),
    ],
)
def test_estimates_are_near_what_tokenizers_say(text: str, low: int, high: int) -> None:
    assert low <= estimate_tokens(text) <= high


def test_a_megabyte_is_counted_in_a_moment() -> None:
    text = "Mixed text 市场 " * 70_000
    started = time.process_time()
    estimate_tokens(text)
    assert time.process_time() - started < 0.5
