"""Making room in a context before its model is asked: masking, summaries, and what is done when a summary fails.

A summary is asked of the branch's own model. Whatever goes wrong with it (no answer, none that can be read, an empty one,
one that is no shorter), a summary is drawn from the lines without a model, and the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from outlast.domain.door import digest_of
from outlast.domain.events import AnyEvent, ContextCrowded, ContextFolded, ModelRequested
from outlast.domain.message import Message
from outlast.domain.run import Branch
from outlast.domain.task import TaskDefinition
from outlast.runs.compression import Fold
from outlast.runs.conversation import Conversation, SummaryAsked
from outlast.runs.limits import limit_crossed
from outlast.runs.lines import Kind
from outlast.runs.made_summaries import made_summary
from outlast.runs.masks import Mask
from outlast.runs.money import model_asked, reserve_for
from outlast.runs.readings import Readings
from outlast.runs.scene import Scene
from outlast.runs.summarising import summary_messages

COMPRESS: Final = "compress"
"""The purpose of the model call that makes a summary."""

SUMMARY_FORM: Final = "summary"

MOST_TRIES: Final = 2
"""How often a model is asked for one summary."""

STEPS_LEFT: Final = 4
"""With fewer steps left than this, none is spent on a summary."""

DIGEST_CHARACTERS: Final = 20
"""How much of the digest of its messages an intent carries."""

_MOST_COMPRESSIONS: Final = 4

Place = Callable[[AnyEvent], None]


def is_roomy(conversation: Conversation, definition: TaskDefinition) -> bool:
    """Is there nothing to do about a context, as there mostly is not? Where this says no, `make_room` tells."""
    return (
        conversation.summary is None
        and conversation.ceiling is None
        and conversation.steps < definition.compression_threshold
        and conversation.tokens <= definition.context_max_tokens
    )


def make_room(readings: Readings, branch: Branch, now: datetime, place: Place) -> ModelRequested | None:
    """Compress the context of a branch as far as is due, recording what is done.

    Returns the intent to ask for a summary, where one is needed first.
    """
    scene = Scene(readings, branch)
    for _ in range(_MOST_COMPRESSIONS):
        match scene.due:
            case None:
                break
            case Mask() as mask:
                saves = scene.conversation.masking_saves(mask)
                place(ContextFolded(branch.id, mask.position, saves, mask.characters, mask.of_material))
            case Fold() as fold:
                if _is_to_be_asked(scene, fold, now):
                    return _intent(scene, fold)
                place(made_summary(scene, fold))
    _tell_if_crowded(scene, place)
    return None


def messages_for(readings: Readings, intent: ModelRequested) -> Sequence[Message]:
    """What the model is shown for a call that was intended."""
    if intent.summarises_before is None:
        return readings.conversations[intent.branch].messages
    scene = Scene(readings, readings.state.branches[intent.branch])
    fold = scene.fold_before(intent.summarises_before)
    most = fold.most_tokens if fold is not None else 0
    return _asking(scene, intent.summarises_before, int(intent.call[1:]), most)


def digest_of_request(readings: Readings, intent: ModelRequested, messages: Sequence[Message]) -> str:
    """The digest that an intent to show a model these messages carries."""
    if intent.summarises_before is None:
        return readings.conversations[intent.branch].digest[:DIGEST_CHARACTERS]
    return _digest(messages)


def _digest(messages: Sequence[Message]) -> str:
    return digest_of("\n".join(f"{one.speaker} {one.text}" for one in messages))[:DIGEST_CHARACTERS]


def _asking(scene: Scene, before: int, position: int, most_tokens: int) -> tuple[Message, ...]:
    """The messages that ask for a summary, intended at `position`."""
    nonce = (scene.conversations.secret, position)
    count = scene.conversations.count
    return summary_messages(scene.conversation, before, nonce, scene.budget, most_tokens, count)


def _is_to_be_asked(scene: Scene, fold: Fold, now: datetime) -> bool:
    """Is the model asked for this summary: not yet, or again; there is room for it; and it is about more than the thread's words?"""
    state = scene.state
    answered = scene.answer_for(fold)
    if answered is not None and not _may_try_again(answered):
        return False
    gone = scene.lines_before(fold.before)
    if fold.reason == "overflow" or not any(line.kind is Kind.SPOKEN for line in gone):
        return False
    if state.limits.max_steps - state.counters.steps < STEPS_LEFT:
        return False
    tokens, usd = reserve_for(model_asked(state, scene.branch), scene.conversation.tokens)
    return limit_crossed(state, now, 2 * tokens, 2 * usd) is None


def _may_try_again(asked: SummaryAsked) -> bool:
    return asked.problem is not None and not asked.is_final and asked.tries < MOST_TRIES


def _intent(scene: Scene, fold: Fold) -> ModelRequested:
    state, branch = scene.state, scene.branch
    position = state.position + 1
    messages = _asking(scene, fold.before, position, fold.most_tokens)
    model = model_asked(state, branch)
    tokens, usd = reserve_for(model, scene.conversations.count(messages, ()))
    return ModelRequested(
        call=f"m{position}",
        branch=branch.id,
        purpose=COMPRESS,
        role=branch.role,
        model=model.model,
        generation=state.generation,
        digest=_digest(messages),
        reserved_tokens=tokens,
        reserved_usd=usd,
        with_tools=False,
        option=branch.option,
        summarises_before=fold.before,
    )


def _tell_if_crowded(scene: Scene, place: Place) -> None:
    """What may never leave does not fit: a person has to give the context more room, or the run less to keep."""
    conversation = scene.conversation
    if conversation.is_crowded or conversation.tokens <= scene.max_tokens:
        return
    fixed = conversation.fixed_tokens
    if fixed > scene.max_tokens:
        place(ContextCrowded(scene.branch.id, fixed, scene.max_tokens))
