"""What a model saw for one of its calls."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from outlast.gateway.shapes.shape import Shape


class ShownCall(Shape):
    """A call of a tool that the model had asked for."""

    id: str
    name: str
    arguments: dict[str, JsonValue]


class ContextPart(Shape):
    """One message, from which event it is and why it was in; `tokens` as estimated."""

    seq: int
    kind: str
    why: str
    tokens: int
    speaker: Literal["system", "user", "assistant", "tool"]
    text: str
    tool_calls: list[ShownCall] | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    reasoning: str | None = None


class ContextDocument(Shape):
    """The context of one model call, made again from the journal; `is_as_recorded` says whether its digest is the one kept there.

    `used_tokens` is what each part of the budget took.
    """

    run_id: str
    seq: int
    call: str
    branch: str
    role: str
    model: str
    purpose: str
    is_as_recorded: bool
    digest: str
    recorded_digest: str
    max_tokens: int
    used_tokens: dict[str, int]
    tools: list[str]
    parts: list[ContextPart]
