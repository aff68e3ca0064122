"""Which entry of a script answers a request: a function of the request alone.

So a restarted process goes on where the other stopped. Nothing is counted in memory. An entry is spent in a
conversation once its answer stands in it: each assistant message spends the first unspent entry that says the
same. So the second call of a conversation gets the second entry, on any machine, while another conversation
(another subtask, a new plan) starts from the first entry again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from outlast.adapters.providers.arguments import read_call
from outlast.adapters.providers.scripted.script import Call, Rule, When
from outlast.domain.door import clean_text
from outlast.domain.message import Message
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelRequest


def choose(rules: Sequence[Rule], request: ModelRequest, failed: Set[int] = frozenset()) -> int | None:
    """The index of the first entry that fits `request` and is not spent; None if there is none.

    `failed` are the failing entries this very call has already met: a failure leaves no message that could
    tell.
    """
    spent = spent_entries(rules, request) | failed
    for index, rule in enumerate(rules):
        if (rule.repeat or index not in spent) and fits(rule.when, request):
            return index
    return None


def fits(when: When, request: ModelRequest) -> bool:
    """Whether every condition of `when` holds for `request`."""
    return (
        (not when.purpose or request.purpose in when.purpose)
        and (not when.role or request.role in when.role)
        and (when.turn is None or when.turn == turn_of(request))
        and all(any(text in message.text for message in request.messages) for text in when.contains)
    )


def turn_of(request: ModelRequest) -> int:
    """How many answers the conversation already holds, those that were folded into a summary included."""
    return request.earlier_turns + sum(message.speaker == "assistant" for message in request.messages)


def spent_entries(rules: Sequence[Rule], request: ModelRequest) -> set[int]:
    """The entries whose answers stand in the conversation; what was folded away has spent the first that fit its purpose and role."""
    spent = set(_of_this_kind(rules, request)[: request.earlier_turns])
    for message in request.messages:
        if message.speaker == "assistant":
            index = _first(rules, spent, message, _says_exactly)
            if index is None and message.tool_calls:
                index = _first(rules, spent, message, _calls_the_same_tools)
            if index is not None:
                spent.add(index)
    return spent


def _of_this_kind(rules: Sequence[Rule], request: ModelRequest) -> list[int]:
    return [
        index
        for index, rule in enumerate(rules)
        if not (rule.fail or rule.repeat)
        and (not rule.when.purpose or request.purpose in rule.when.purpose)
        and (not rule.when.role or request.role in rule.when.role)
    ]


def calls_of(rule: Rule) -> tuple[ToolCall, ...]:
    """The tool calls the entry asks for, read as a real provider reads them."""
    return tuple(_tool_call(call) for call in rule.call)


def _first(
    rules: Sequence[Rule], spent: Set[int], message: Message, alike: Callable[[Rule, Message], bool]
) -> int | None:
    candidates = (index for index, rule in enumerate(rules) if index not in spent and not rule.fail)
    return next((index for index in candidates if alike(rules[index], message)), None)


def _says_exactly(rule: Rule, message: Message) -> bool:
    same_text = clean_text(rule.say).strip() == message.text.strip()
    return same_text and _signature(calls_of(rule)) == _signature(message.tool_calls)


def _calls_the_same_tools(rule: Rule, message: Message) -> bool:
    """Arguments may differ from what was said: defaults are filled in, and a person may have edited them."""
    return [call.tool for call in rule.call] == [call.name for call in message.tool_calls]


def _signature(calls: Sequence[ToolCall]) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in calls]


def _tool_call(call: Call) -> ToolCall:
    return read_call(call.id, call.tool, call.arguments)
