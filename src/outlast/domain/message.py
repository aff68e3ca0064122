"""Messages: the conversation a model sees, in the one form every provider understands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from outlast.domain.tool_call import ToolCall

Speaker = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    An assistant message may carry `tool_calls` and the `reasoning` that led to them; a tool message answers the call
    `tool_call_id` of the assistant message before it, in the order of the calls, and names its tool.
    """

    speaker: Speaker
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model call used up. `cost_usd` is None where no price is known; `is_estimate` marks counts the server did not give."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    is_estimate: bool = False

    @property
    def total_tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens
