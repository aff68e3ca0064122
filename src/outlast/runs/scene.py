"""A branch and its context, with everything that compressing it looks at."""

from __future__ import annotations

from outlast.domain.dataclass import dataclass
from outlast.domain.quick import quick
from outlast.domain.run import Branch, RunState
from outlast.domain.task import TaskDefinition
from outlast.runs.compression import Fold, budget_of, compression_due, fold_before
from outlast.runs.context import Conversations
from outlast.runs.conversation import Conversation, SummaryAsked
from outlast.runs.lines import Line
from outlast.runs.masks import Mask
from outlast.runs.readings import Readings


@quick
@dataclass(frozen=True, slots=True)
class Scene:
    """A branch of a run as its readings have it."""

    readings: Readings
    branch: Branch

    @property
    def state(self) -> RunState:
        """The state of the run."""
        return self.readings.state

    @property
    def conversations(self) -> Conversations:
        """The contexts of the run."""
        return self.readings.conversations

    @property
    def conversation(self) -> Conversation:
        """The context of the branch."""
        return self.conversations[self.branch.id]

    @property
    def max_tokens(self) -> int:
        """The most tokens the context is meant to have."""
        return self._definition.context_max_tokens

    @property
    def budget(self) -> int:
        """The most tokens the context may have now: less, where the server has refused that many."""
        return budget_of(self.conversation, self.max_tokens)

    @property
    def due(self) -> Mask | Fold | None:
        """The next thing to do about the context: take up a summary that came, mask, or fold."""
        return self._taken_up() or compression_due(
            self.conversation,
            self.max_tokens,
            self._definition.compression_threshold,
            is_refused=self.branch.fault == "context_exceeded",
        )

    def lines_before(self, before: int) -> tuple[Line, ...]:
        """What comes before the turn at `before`."""
        return self.conversation.lines[: self.conversation.cut_at(before)]

    def fold_before(self, before: int, reason: str = "") -> Fold | None:
        """The folding of what comes before the turn at `before`."""
        return fold_before(self.conversation, before, self.max_tokens, reason)

    def answer_for(self, fold: Fold) -> SummaryAsked | None:
        """What came of asking for this very summary; None when it was not asked for, or nothing came yet."""
        asked = self.conversation.summary
        is_it = asked is not None and asked.is_answered and asked.before == fold.before
        return asked if is_it else None

    def _taken_up(self) -> Fold | None:
        asked = self.conversation.summary
        if asked is None or not asked.is_answered:
            return None
        reason = "budget" if self.conversation.tokens > self.budget else "steps"
        return self.fold_before(asked.before, reason)

    @property
    def _definition(self) -> TaskDefinition:
        return self.state.definition
