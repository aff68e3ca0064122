"""When a context is compressed, and by how much: first old observations are masked, then earlier turns become a summary.

Pure: the plan is made of the conversation alone. A compression must save something worth the broken prefix, and leaves room
to grow before the next; where nothing can be saved any more, nothing is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.runs.conversation import KEPT_TURNS, Conversation
from outlast.runs.lines import STAYS, Kind, Line
from outlast.runs.masks import MASKED_CHARACTERS, Mask

RELIEF: Final = 0.75
"""The share of the budget that masking has to reach, or else earlier turns are folded too."""

NEWEST_SHARE: Final = 0.3
"""The share of the budget up to which more than the least number of newest turns are kept as they are."""

SUMMARY_SHARE: Final = 0.15
"""The share of the budget that a summary may take."""

LEAST_SUMMARY_TOKENS: Final = 160
LEAST_GAIN_SHARE: Final = 0.05
"""The share of the budget that has to have come in since the last summary before the budget asks for another."""

LEAST_FOLDED_TOKENS: Final = 200
"""What has to have come in before a number of steps asks for one."""

EMERGENCY_CHARACTERS: Final = (12_000, 6_000, 3_000, 1_500, 700, MASKED_CHARACTERS)
"""How much is left of the newest observations where nothing else is left to shorten, the first that is enough."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Summarise what came before the turn at `before`: `replaces` tokens by at most `most_tokens`, both as estimated."""

    before: int
    reason: str
    replaces: int
    most_tokens: int


def budget_of(conversation: Conversation, max_tokens: int) -> int:
    """The most tokens a context may have: the configured number, or less where the server refused that many."""
    return max_tokens if conversation.ceiling is None else min(max_tokens, conversation.ceiling)


def compression_due(
    conversation: Conversation, max_tokens: int, threshold: int, *, is_refused: bool = False
) -> Mask | Fold | None:
    """The next thing to do about a context before its model is asked again; None when it may stay as it is.

    `is_refused` says that the server has just refused it as too long.
    """
    budget = budget_of(conversation, max_tokens)
    room = int(budget / conversation.ratio)
    if conversation.tokens > budget:
        return _to_fit(conversation, room, threshold, "overflow" if is_refused else "budget")
    if conversation.steps >= threshold:
        return _folded(conversation, room, threshold, "steps")
    return None


def fold_before(conversation: Conversation, before: int, max_tokens: int, reason: str) -> Fold | None:
    """The folding of what came before the turn at `before`; None when there is nothing left to fold."""
    cut = conversation.cut_at(before)
    room = int(budget_of(conversation, max_tokens) / conversation.ratio)
    return _fold_at(conversation, cut, room, reason, least=1) if cut else None


def leaving(lines: Sequence[Line]) -> list[Line]:
    """Those of some lines that a folding takes away."""
    return [line for line in lines if line.kind not in STAYS and line.kind is not Kind.ANSWERED]


def _to_fit(conversation: Conversation, room: int, threshold: int, reason: str) -> Mask | Fold | None:
    taken = conversation.estimate + conversation.tools_estimate
    old = _old_observations(conversation)
    saves = conversation.masking_saves(old) if old is not None else 0
    if saves > 0 and taken - saves <= room * RELIEF:
        return old
    fold = _folded(conversation, room, threshold, reason)
    if fold is not None:
        return fold
    return _emergency(conversation, room, is_refused=reason == "overflow")


def _old_observations(conversation: Conversation) -> Mask | None:
    turns = conversation.turns()
    if len(turns) <= KEPT_TURNS:
        return None
    return Mask(conversation.lines[turns[-KEPT_TURNS]].order - 1, MASKED_CHARACTERS)


def _emergency(conversation: Conversation, room: int, *, is_refused: bool) -> Mask | None:
    """Whatever the newest observations can give, then long words of the thread, so that the next call fits.

    What was handed over with the request is shortened only when the server has refused it whole.
    """
    newest = max((line.order for line in conversation.lines), default=0)
    reaches = [(newest, False), (0, False), *([(newest, True)] if is_refused else [])]
    masks = [
        Mask(position, characters, of_material)
        for position, of_material in reaches
        for characters in EMERGENCY_CHARACTERS
    ]
    saving = {mask: saves for mask in masks if (saves := conversation.masking_saves(mask)) > 0}
    taken = conversation.estimate + conversation.tools_estimate
    enough = (mask for mask, saves in saving.items() if taken - saves <= room)
    return next(enough, max(saving, key=lambda mask: saving[mask], default=None))


def _folded(conversation: Conversation, room: int, threshold: int, reason: str) -> Fold | None:
    turns, lines = conversation.turns(), conversation.lines
    kept = _kept_turns(lines, turns, room, threshold)
    if len(turns) <= kept:
        return None
    least = LEAST_FOLDED_TOKENS if reason == "steps" else int(room * LEAST_GAIN_SHARE)
    return _fold_at(conversation, turns[-kept], room, reason, max(least, LEAST_FOLDED_TOKENS))


def _fold_at(conversation: Conversation, cut: int, room: int, reason: str, least: int) -> Fold | None:
    """The folding of the first `cut` lines, unless it would take away less than `least` tokens beside the last summary."""
    lines = conversation.lines
    gone = leaving(lines[:cut])
    summary = sum(line.tokens for line in gone if line.kind is Kind.SUMMARY)
    new = sum(line.tokens for line in gone) - summary
    if new < least:
        return None
    most = min(max(LEAST_SUMMARY_TOKENS, int(room * SUMMARY_SHARE)), summary + new // 2)
    return Fold(lines[cut].order, reason, summary + new, most)


def _kept_turns(lines: tuple[Line, ...], turns: list[int], room: int, threshold: int) -> int:
    """How many of the newest turns are kept: the least number, and more while they are small."""
    kept, tokens, end = 0, 0, len(lines)
    for start in reversed(turns):
        tokens += sum(line.tokens for line in lines[start:end])
        end = start
        if kept >= KEPT_TURNS and (kept >= threshold // 4 or tokens > room * NEWEST_SHARE):
            break
        kept += 1
    return max(kept, KEPT_TURNS)
