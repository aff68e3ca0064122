"""What is sent."""

import json
from typing import Any

from outlast.adapters.providers.openai_compatible.dialect import Dialect
from outlast.adapters.providers.openai_compatible.request import own_names, wire_body, wire_name
from outlast.domain.message import Message
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelRequest, ToolSchema
from tests.law import law
from tests.unit.adapters.providers.asking import a_request

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}


def body(request: ModelRequest, dialect: Dialect | None = None) -> dict[str, Any]:
    sent: dict[str, Any] = json.loads(wire_body(request, dialect or Dialect()))
    return sent


def test_a_plain_request_asks_for_a_stream_with_usage() -> None:
    assert body(a_request("Hello", max_tokens=9)) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.3,
        "max_tokens": 9,
    }


def test_a_conversation_with_calls_keeps_order_ids_and_valid_arguments() -> None:
    fine = ToolCall("c1", "web:look", {"q": "市场"})
    broken = ToolCall("c2", "look", problem="not JSON", raw='{"q')
    sent = body(
        a_request(
            Message("system", "Be brief."),
            Message("assistant", "", (fine, broken)),
            Message("tool", "found", tool_call_id="c1", tool_name="web:look"),
            Message("tool", "bad", tool_call_id="c2", tool_name="look"),
        )
    )["messages"]
    assert [message["role"] for message in sent] == ["system", "assistant", "tool", "tool"]
    assert [message.get("tool_call_id") for message in sent[2:]] == ["c1", "c2"]
    assert sent[1]["content"] is None
    assert [json.loads(call["function"]["arguments"]) for call in sent[1]["tool_calls"]] == [
        {"q": "市场"},
        {},
    ]


def test_names_endpoints_refuse_are_changed_and_found_again() -> None:
    names = ("web:look", "web_look", "web.look", "x" * 80, "", "市场")
    request = a_request("go", tools=tuple(ToolSchema(name, "", SCHEMA) for name in names))
    wire = [tool["function"]["name"] for tool in body(request)["tools"]]
    assert len(set(wire)) == len(names)
    assert all(
        name and len(name) <= 64 and name.isascii() and ":" not in name and "." not in name for name in wire
    )
    assert [own_names(request)[name] for name in wire] == list(names)
    assert wire_name("web_look") == "web_look"


@law("MODEL-1.c")
def test_a_response_schema_is_sent_in_the_form_the_model_takes() -> None:
    request = a_request(Message("system", "Be brief."), "go", response_schema=SCHEMA, purpose="plan")
    full = body(request)
    assert full["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "plan", "schema": SCHEMA, "strict": False},
    }
    assert full["messages"][0]["content"] == "Be brief."
    loose = body(request, Dialect(structured="json_object"))
    assert loose["response_format"] == {"type": "json_object"}
    assert json.dumps(SCHEMA) in loose["messages"][0]["content"]
    none = body(request, Dialect(structured="none"))
    assert "response_format" not in none
    assert json.dumps(SCHEMA) in none["messages"][0]["content"]
    alone = body(a_request("go", response_schema=SCHEMA), Dialect(structured="none"))["messages"]
    assert [message["role"] for message in alone] == ["system", "user"]


def test_a_schema_is_strict_only_if_all_its_objects_are_closed_and_complete() -> None:
    def strict(schema: dict[str, Any]) -> bool:
        sent = body(a_request("go", response_schema=schema))["response_format"]["json_schema"]["strict"]
        assert isinstance(sent, bool)
        return sent

    closed = {**SCHEMA, "required": ["n"], "additionalProperties": False}
    assert strict(closed)
    assert not strict({**closed, "required": []})
    assert not strict({"type": "object"})
    assert strict({"type": "array", "items": closed})
    assert not strict({"type": "array", "items": {"anyOf": [closed, SCHEMA]}})


def test_reasoning_goes_back_only_to_models_that_take_it() -> None:
    request = a_request(Message("assistant", "yes", reasoning="hm"), "go on")
    assert "reasoning_content" not in body(request)["messages"][0]
    assert body(request, Dialect(takes_reasoning=True))["messages"][0]["reasoning_content"] == "hm"


def test_what_a_model_does_not_take_is_left_out_or_renamed() -> None:
    sent = body(a_request("go", max_tokens=5), Dialect("none", False, "max_completion_tokens", False))
    assert sent == {
        "model": "m",
        "messages": [{"role": "user", "content": "go"}],
        "stream": True,
        "max_completion_tokens": 5,
    }


def test_lone_surrogates_do_not_stop_a_request() -> None:
    assert body(a_request("a\ud800b"))["messages"][0]["content"] == "a\ufffdb"
