"""Making room in a context before its model is asked: masking, summaries, and what is done when a summary fails.

A summary is asked of the branch's own model. Whatever goes wrong with it (no answer, none that can be read, an empty one,
one that is no shorter), a summary is drawn from the lines without a model, and the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from outlast.domain.context_summary import ContextSummary
from outlast.domain.door import digest_of
from outlast.domain.events import (
    AnyEvent,
    ContextCrowded,
    ContextFolded,
    ContextSummarised,
    ModelRequested,
)
from outlast.domain.message import Message
from outlast.domain.run import Branch
from outlast.runs.compression import Fold, Mask, budget_of, compression_due, fold_before, leaving
from outlast.runs.conversation import Conversation, SummaryAsked
from outlast.runs.limits import limit_crossed
from outlast.runs.lines import Kind
from outlast.runs.money import model_asked, reserve_for
from outlast.runs.readings import Readings
from outlast.runs.summaries import (
    DRAWN_CHARACTERS,
    bounded_summary,
    drawn_summary,
    is_empty,
    summary_in,
    tokens_of,
    with_artifacts,
)
from outlast.runs.summarising import request_text, summary_messages
from outlast.runs.summary import waiting_for

COMPRESS: Final = "compress"
"""The purpose of the model call that makes a summary."""

SUMMARY_FORM: Final = "summary"

MOST_TRIES: Final = 2
"""How often a model is asked for one summary."""

STEPS_LEFT: Final = 4
"""With fewer steps left than this, none is spent on a summary."""

_MOST_COMPRESSIONS: Final = 4

Place = Callable[[AnyEvent], None]


def make_room(readings: Readings, branch: Branch, now: datetime, place: Place) -> ModelRequested | None:
    """Compress the context of a branch as far as is due, recording what is done.

    Returns the intent to ask for a summary, where one is needed first.
    """
    conversation = readings.conversations[branch.id]
    definition = readings.state.definition
    is_refused = branch.fault == "context_exceeded"
    for _ in range(_MOST_COMPRESSIONS):
        asked = conversation.summary
        due = _taken_up(readings, asked, conversation) or compression_due(
            conversation,
            definition.context_max_tokens,
            definition.compression_threshold,
            is_refused=is_refused,
        )
        match due:
            case None:
                break
            case Mask():
                place(ContextFolded(branch.id, due.position, due.saves, due.characters))
            case Fold():
                if _is_to_be_asked(readings, branch, due, now):
                    return _intent(readings, branch, due)
                place(_summarised(readings, branch, due))
    _tell_if_crowded(conversation, branch, definition.context_max_tokens, place)
    return None


def messages_for(readings: Readings, intent: ModelRequested) -> Sequence[Message]:
    """What the model is shown for a call that was intended."""
    conversation = readings.conversations[intent.branch]
    before = intent.summarises_before
    if before is None:
        return conversation.messages
    max_tokens = readings.state.definition.context_max_tokens
    fold = fold_before(conversation, before, max_tokens, "")
    return _messages(readings, conversation, before, int(intent.call[1:]), fold)


def _messages(
    readings: Readings, conversation: Conversation, before: int, position: int, fold: Fold | None
) -> tuple[Message, ...]:
    conversations = readings.conversations
    budget = budget_of(conversation, readings.state.definition.context_max_tokens)
    most = fold.most_tokens if fold is not None else 0
    nonce = (conversations.secret, position)
    return summary_messages(conversation, before, nonce, budget, most, conversations.count)


def _taken_up(readings: Readings, asked: SummaryAsked | None, conversation: Conversation) -> Fold | None:
    """The folding that a summary which came was asked for."""
    if asked is None or not asked.is_answered:
        return None
    max_tokens = readings.state.definition.context_max_tokens
    reason = "budget" if conversation.tokens > budget_of(conversation, max_tokens) else "steps"
    return fold_before(conversation, asked.before, max_tokens, reason)


def _is_to_be_asked(readings: Readings, branch: Branch, fold: Fold, now: datetime) -> bool:
    """Is the model asked for this summary: not yet, or again; there is room for it; and it is about more than the thread's words?"""
    state, conversation = readings.state, readings.conversations[branch.id]
    answered = _answer_for(conversation, fold)
    if answered is not None and not _may_try_again(answered):
        return False
    gone = conversation.lines[: conversation.cut_at(fold.before)]
    if fold.reason == "overflow" or not any(line.kind is Kind.SPOKEN for line in gone):
        return False
    if state.limits.max_steps - state.counters.steps < STEPS_LEFT:
        return False
    tokens, usd = reserve_for(state, branch, conversation.tokens)
    return limit_crossed(state, now, 2 * tokens, 2 * usd) is None


def _answer_for(conversation: Conversation, fold: Fold) -> SummaryAsked | None:
    """What came of asking for this very summary."""
    asked = conversation.summary
    is_it = asked is not None and asked.is_answered and asked.before == fold.before
    return asked if is_it else None


def _may_try_again(asked: SummaryAsked) -> bool:
    return asked.problem is not None and not asked.is_final and asked.tries < MOST_TRIES


def _intent(readings: Readings, branch: Branch, fold: Fold) -> ModelRequested:
    state, conversation = readings.state, readings.conversations[branch.id]
    position = state.position + 1
    messages = _messages(readings, conversation, fold.before, position, fold)
    tokens, usd = reserve_for(state, branch, readings.conversations.count(messages, ()))
    told = "\n".join(f"{message.speaker} {message.text}" for message in messages)
    return ModelRequested(
        call=f"m{position}",
        branch=branch.id,
        purpose=COMPRESS,
        role=branch.role,
        model=model_asked(state, branch).model,
        generation=state.generation,
        digest=digest_of(told)[:20],
        reserved_tokens=tokens,
        reserved_usd=usd,
        with_tools=False,
        option=branch.option,
        summarises_before=fold.before,
    )


def _summarised(readings: Readings, branch: Branch, fold: Fold) -> ContextSummarised:
    """The summary of the model, if there is one that will do, else one that is drawn without it."""
    conversation = readings.conversations[branch.id]
    answered = _answer_for(conversation, fold)
    problem = ""
    if answered is not None:
        problem = answered.problem or ""
        summary = _completed(readings, branch, fold, summary_in(answered.value)) if not problem else None
        problem = problem or _fault_of(readings, fold, summary)
        if summary is not None and not problem:
            return _event(readings, branch, fold, summary, "model", "")
    return _event(readings, branch, fold, _drawn(readings, branch, fold), "engine", problem)


def _drawn(readings: Readings, branch: Branch, fold: Fold) -> ContextSummary:
    """The fullest summary without a model that fits; where none does, the shortest, cut."""
    conversations, conversation = readings.conversations, readings.conversations[branch.id]
    earlier = conversations.summary_of(branch.id)
    lines = conversation.lines[: conversation.cut_at(fold.before)]
    gone, request = leaving(lines), request_text(lines)
    summary = ContextSummary()
    for characters in DRAWN_CHARACTERS:
        summary = _with_facts(readings, branch, fold, drawn_summary(gone, earlier, request, characters))
        if tokens_of(summary, conversations.count) <= fold.most_tokens:
            break
    return bounded_summary(summary, fold.most_tokens, conversations.count)


def _completed(readings: Readings, branch: Branch, fold: Fold, summary: ContextSummary) -> ContextSummary:
    """A model's summary with what the engine knows better, within its bound."""
    completed = _with_facts(readings, branch, fold, summary)
    return bounded_summary(completed, fold.most_tokens, readings.conversations.count)


def _with_facts(readings: Readings, branch: Branch, fold: Fold, summary: ContextSummary) -> ContextSummary:
    """A summary with every stored result there was, and what waits for a person now."""
    conversations, conversation = readings.conversations, readings.conversations[branch.id]
    lines = leaving(conversation.lines[: conversation.cut_at(fold.before)])
    pending = tuple(text[:200] for text in waiting_for(readings.state))
    summary = with_artifacts(summary, lines, conversations.summary_of(branch.id))
    return replace(summary, pending=pending)


def _fault_of(readings: Readings, fold: Fold, summary: ContextSummary | None) -> str:
    if summary is None or is_empty(summary):
        return "it says nothing of what happened"
    return "it is no shorter" if tokens_of(summary, readings.conversations.count) >= fold.replaces else ""


def _event(
    readings: Readings, branch: Branch, fold: Fold, summary: ContextSummary, by: str, problem: str
) -> ContextSummarised:
    return ContextSummarised(
        branch=branch.id,
        before=fold.before,
        summary=summary,
        by=by,
        reason=fold.reason,
        problem=problem,
        replaced_tokens=fold.replaces,
        tokens=tokens_of(summary, readings.conversations.count),
    )


def _tell_if_crowded(conversation: Conversation, branch: Branch, max_tokens: int, place: Place) -> None:
    """What may never leave does not fit: a person has to give the context more room, or the run less to keep."""
    if conversation.is_crowded or conversation.tokens <= max_tokens:
        return
    fixed = conversation.fixed_tokens
    if fixed > max_tokens:
        place(ContextCrowded(branch.id, fixed, max_tokens))
