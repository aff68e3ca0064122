"""Messages: the conversation a model sees, in the one form every provider understands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, overload

from outlast.domain.dataclass import dataclass
from outlast.domain.quick import quick
from outlast.domain.tool_call import ToolCall

Speaker = Literal["system", "user", "assistant", "tool"]


@quick
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


class Messages(Sequence[Message]):
    """A conversation as it stands: the first messages of a list that only grows, seen without copying it."""

    __slots__ = ("_growing", "_length")

    def __init__(self, growing: list[Message]) -> None:
        self._growing = growing
        self._length = len(growing)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Message]:
        return islice(self._growing, self._length)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple(self._growing[place] for place in range(*index.indices(self._length)))
        return self._growing[range(self._length)[index]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@quick
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
