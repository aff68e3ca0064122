"""What a refusal may change."""

import pytest

from outlast.adapters.providers.openai_compatible.dialect import Dialect, adapted
from outlast.adapters.providers.openai_compatible.refusal import Refusal


def after(message: str, dialect: Dialect | None = None, **refusal: object) -> Dialect | None:
    return adapted(dialect or Dialect(), Refusal(**({"status": 400, "message": message} | refusal)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("message", "param", "expected"),
    [
        ("response_format json_schema is not supported", "", Dialect(structured="json_object")),
        ("Invalid schema for response_format 'plan'", "response_format", Dialect(structured="json_object")),
        ("Unrecognized request argument: stream_options", "", Dialect(states_usage=False)),
        ("body.stream_options: Extra inputs are not permitted", "", Dialect(states_usage=False)),
        (
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            "max_tokens",
            Dialect(limit_name="max_completion_tokens"),
        ),
        (
            "Unsupported value: does not support 0.3, only the default",
            "temperature",
            Dialect(takes_temperature=False),
        ),
        ("The `reasoning_content` must be passed back to the API.", "", Dialect(takes_reasoning=True)),
    ],
)
def test_g02_17_exactly_what_is_named_is_dropped_or_renamed(
    message: str, param: str, expected: Dialect
) -> None:
    assert after(message, param=param) == expected


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Invalid messages",
        "temperature must be between 0 and 2",
        "max_tokens is too large: 100000",
        "tools are not supported by this model",
        "Unsupported parameter: 'tools'",
        "unknown field: messages",
    ],
)
def test_g02_17_nothing_else_is_ever_dropped(message: str) -> None:
    assert after(message) is None


def test_structure_is_given_up_in_two_steps_and_then_no_more() -> None:
    refusal = "response_format is not supported"
    once = after(refusal)
    twice = after(refusal, once)
    assert (once, twice) == (Dialect(structured="json_object"), Dialect(structured="none"))
    assert after(refusal, twice) is None


def test_g02_16_reasoning_an_endpoint_does_not_know_is_left_out_again() -> None:
    assert after("unknown field reasoning_content", Dialect(takes_reasoning=True)) == Dialect()
    assert after("unknown field reasoning_content", Dialect()) is None


@pytest.mark.parametrize("status", [401, 404, 429, 503])
def test_only_refusals_of_the_request_change_it(status: int) -> None:
    assert after("response_format is not supported", status=status) is None
