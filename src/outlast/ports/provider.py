"""The seam to a language model: typed messages, tool schemas, a purpose and a response schema in; text or tool calls out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Literal, Protocol

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.message import Message, Usage
from outlast.domain.quick import quick
from outlast.domain.tool_call import ToolCall

Finish = Literal["stop", "tool_calls", "length", "content_filter"]


@quick
@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as it is offered to a model: its name, what it does, and the JSON Schema of its arguments."""

    name: str
    description: str
    input_schema: Mapping[str, Json]


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call of a model.

    `purpose` says what the answer is for: `chat`, `plan`, `execute`, `conclude`, `review`, `report`, `final_review`,
    `summarize`, `compress` (notes of the model's own earlier steps), or a word of a user's own workflow. With
    `response_schema` the answer's text must be one JSON value that fits it; with `tools` the model may ask for calls.
    `call_id` names the call in the journal and is stable across retries. `earlier_turns` is how often the model spoke before
    what `messages` still show: it is for providers that play a script.
    """

    call_id: str
    purpose: str
    role: str
    model: str
    messages: Sequence[Message]
    tools: tuple[ToolSchema, ...] = ()
    response_schema: Mapping[str, Json] | None = None
    temperature: float = 0.3
    max_tokens: int | None = None
    earlier_turns: int = 0


@quick
@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model said.

    Tool calls carry the ids the server gave them, or an empty id; the engine names them anew. `finish` is why the model
    stopped: `length` means the answer is cut.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    usage: Usage = field(default_factory=Usage)
    finish: Finish = "stop"
    model: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer while it is made. Never journaled: only whole answers are."""

    text: str = ""
    reasoning: str = ""


Observer = Callable[[Delta], None]
"""Called with each piece as it comes; must not block and must not raise."""


class Provider(Protocol):
    """A model endpoint. One instance serves many calls at once."""

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        """The whole answer to `request`; pieces go to `observe` as they come.

        Raises ModelCallFailed for every trouble of the endpoint, with its fault classified. An answer that broke off is a
        trouble (`cut_stream`), never a short answer. Cancelling the call closes the connection.
        """
        ...

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        """An estimate, made offline, of the tokens `messages` and `tools` would take."""
        ...

    async def close(self) -> None:
        """Give up connections. Safe to call twice."""
        ...
