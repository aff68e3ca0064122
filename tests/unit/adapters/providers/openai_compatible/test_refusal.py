"""Which fault a refusal is."""

import json

import pytest

from outlast.adapters.providers.openai_compatible.refusal import fault_of, read_refusal


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        (400, "Input tokens exceed the configured limit of 1000 tokens", "context_exceeded"),
        (
            400,
            "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
            "context_exceeded",
        ),
        (
            400,
            {"error": {"type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256}},
            "context_exceeded",
        ),
        (500, {"error": {"type": "exceed_context_size_error", "n_prompt_tokens": 1407}}, "context_exceeded"),
        (413, "", "context_exceeded"),
        (400, "too large for model", "context_exceeded"),
        (400, {"error": {"code": "context_length_exceeded", "message": "no"}}, "context_exceeded"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "context_exceeded"),
        (
            400,
            "This model's maximum context length is 8192 tokens. However, you requested 9000.",
            "context_exceeded",
        ),
        (429, {"error": {"message": "Request too large for m on tokens per min (TPM)"}}, "context_exceeded"),
        (
            400,
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
            "bad_request",
        ),
        (400, "Invalid schema for function 'f': the value is too long", "bad_request"),
        (400, {"error": {"message": "Unknown field", "param": "top_k"}}, "bad_request"),
        (401, {"error": {"message": "Incorrect API key"}}, "auth"),
        (403, "", "auth"),
        (402, {"error": {"message": "Insufficient Balance"}}, "auth"),
        (
            429,
            {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}},
            "auth",
        ),
        (429, {"error": {"message": "Rate limit reached"}}, "rate_limit"),
        (
            429,
            {
                "error": {
                    "message": "Tokens per minute exceeds the limit. Add a payment method under billing."
                }
            },
            "rate_limit",
        ),
        (400, "Invalid request: the name of a tool is too long", "bad_request"),
        (404, {"detail": "Not Found"}, "bad_request"),
        (408, "", "timeout"),
        (500, "<html><h1>Internal Server Error</h1></html>", "overload"),
        (503, [{"error": {"message": "overloaded"}}], "overload"),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overload"),
        (307, "", "bad_request"),
    ],
)
def test_g02_13_refusals_are_classified(status: int, body: object, fault: str) -> None:
    sent = body if isinstance(body, str) else json.dumps(body)
    assert fault_of(read_refusal(status, sent.encode())) == fault


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b"[]", b"null", b"7", b'{"error":null}', b'{"error":[]}', b"[" * 100_000]
)
def test_no_body_makes_reading_fail(body: bytes) -> None:
    refusal = read_refusal(500, body)
    assert fault_of(refusal) == "overload"
    assert len(refusal.message) <= 500


def test_a_web_page_is_told_without_its_tags() -> None:
    assert read_refusal(502, b"<html>\n<title>Bad  gateway</title></html>").message == "Bad gateway"
