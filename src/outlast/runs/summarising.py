"""What a model is shown when it is asked for a summary of its branch's earlier steps: bounded, and fenced as a whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from outlast.domain.door import Json
from outlast.domain.message import Message
from outlast.runs.conversation import Conversation
from outlast.runs.fences import RULE, fence
from outlast.runs.lines import Kind, Line, TokenCount
from outlast.runs.masks import body_of
from outlast.runs.prompts.context import SUMMARISER, summary_opening

CUTS: Final = (4_000, 1_500, 600, 240, 80)
"""How many characters of each part are shown, the first that makes the material fit."""

INPUT_SHARE: Final = 0.6
"""The share of the budget that the material may take."""

_WORDS_PER_TOKEN: Final = 0.5


def request_text(lines: Sequence[Line]) -> str:
    """What the branch was opened with."""
    return next((line.message.text for line in lines if line.kind is Kind.REQUEST), "")


def summary_messages(
    conversation: Conversation,
    before: int,
    nonce: tuple[str, int],
    budget: int,
    most_tokens: int,
    count: TokenCount,
) -> tuple[Message, ...]:
    """The messages that ask for a summary of what came before the turn at `before`.

    `nonce` is the run's secret and the position of the intent. Old parts are left out where even the shortest form of all
    is more than `budget` tokens allow.
    """
    lines = conversation.lines[: conversation.cut_at(before)]
    opening = summary_opening(request_text(lines)[:2_000], max(60, int(most_tokens * _WORDS_PER_TOKEN)))
    room = int(budget * INPUT_SHARE / conversation.ratio)
    material = fence(*nonce, "the earlier steps", _fitting(lines, room, count))
    return (Message("system", f"{SUMMARISER}\n\n{RULE}"), Message("user", f"{opening}\n\n{material}"))


def _fitting(lines: Sequence[Line], room: int, count: TokenCount) -> str:
    for characters in CUTS:
        text = _as_text(_parts(lines, characters))
        if count((Message("user", text),), ()) <= room:
            return text
    parts = _parts(lines, CUTS[-1])
    while len(parts) > 1 and count((Message("user", _as_text(parts)),), ()) > room:
        parts = parts[max(1, len(parts) // 8) :]
    return _as_text(parts)


def _parts(lines: Sequence[Line], characters: int) -> list[Json]:
    parts = [_part(line, characters) for line in lines]
    return [part for part in parts if part is not None]


def _as_text(parts: list[Json]) -> str:
    return json.dumps({"steps": parts}, ensure_ascii=False)


def _part(line: Line, characters: int) -> Json | None:
    """A line as a part of the material; None for what needs no summary, since it stays."""
    text = line.message.text
    at: dict[str, Json] = {"at": line.position}
    match line.kind:
        case Kind.SPOKEN | Kind.EARLIER:
            calls: list[Json] = [
                f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}"[:characters]
                for call in line.message.tool_calls
            ]
            return {**at, "said": text[:characters], **({"calls": calls} if calls else {})}
        case Kind.OBSERVED | Kind.ANSWERED:
            return {**at, "tool": line.message.tool_name, "result": _ends(body_of(text), characters)}
        case Kind.SUMMARY:
            return {**at, "notes so far": body_of(text)}
        case Kind.SAID | Kind.TOLD | Kind.RECALLED:
            return {**at, line.kind.value: _ends(text, characters)}
        case _:
            return None


def _ends(text: str, characters: int) -> str:
    """The head and the tail of a text."""
    if len(text) <= characters:
        return text
    head = characters * 2 // 3
    return f"{text[:head]}\n[... left out ...]\n{text[head - characters :]}"
