"""What conversations learn from the model calls made for them: how large they really are, and what came of a summary."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.events import ModelAnswered, ModelFailed, ModelRequested
from outlast.domain.quick import quick
from outlast.runs.conversation import Conversation, SummaryAsked

CEILING_SHARE: Final = 0.6
"""How much of what a server refused as too long a context may have from then on."""

_PROBLEM_CHARACTERS: Final = 300


@quick
@dataclass(frozen=True, slots=True)
class _Asked:
    """A model call in flight: for which conversation, what it was estimated at, and whether it is for a summary."""

    branch: str
    conversation: Conversation
    estimate: int
    is_summary: bool


class AskedModels:
    """The model calls of a run that are in flight, and how the servers of its roles count."""

    def __init__(self) -> None:
        self._asked: dict[str, _Asked] = {}
        self._ratios: dict[str, float] = {}

    def ratio_of(self, role: str) -> float:
        """How many tokens the model of a role last counted for one that was estimated."""
        return self._ratios.get(role, 1.0)

    def requested(self, conversation: Conversation, event: ModelRequested) -> None:
        """A call is made: for the next turn, or for a summary."""
        before = event.summarises_before
        estimate = conversation.estimate + (conversation.tools_estimate if event.with_tools else 0)
        self._asked[event.call] = _Asked(event.branch, conversation, estimate, before is not None)
        if before is None:
            conversation.steps += 1
        else:
            tried = conversation.summary.tries if conversation.summary is not None else 0
            conversation.summary = SummaryAsked(event.call, before, tried + 1)

    def answered(self, event: ModelAnswered) -> str | None:
        """A call is answered: the branch whose turn the answer is; None when it is none."""
        asked = self._asked.pop(event.call)
        conversation = asked.conversation
        if asked.is_summary:
            summary = conversation.summary
            if summary is not None and summary.call == event.call:
                problem = (event.problem or "it holds nothing") if event.value is None else None
                conversation.summary = replace(summary, value=event.value, problem=problem)
            return None
        if not event.is_estimate:
            conversation.correct(asked.estimate, event.input_tokens)
            self._ratios[conversation.role] = conversation.ratio
        return asked.branch

    def failed(self, event: ModelFailed) -> None:
        """A call has failed: a context that was refused as too long gets a ceiling; a summary that failed says why."""
        asked = self._asked.pop(event.call, None)
        if asked is None:
            return
        conversation, summary = asked.conversation, asked.conversation.summary
        if not asked.is_summary and event.fault == "context_exceeded":
            taken = int(asked.estimate * conversation.ratio * CEILING_SHARE)
            conversation.ceiling = min(taken, conversation.ceiling or taken)
        elif asked.is_summary and summary is not None and summary.call == event.call:
            problem = f"{event.fault}: {event.detail}"[:_PROBLEM_CHARACTERS].rstrip(": ")
            is_final = event.retry_at is None or event.fault == "context_exceeded"
            conversation.summary = replace(summary, problem=problem, is_final=is_final)
