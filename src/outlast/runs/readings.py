"""The readings a worker keeps of a run while it works on it: state, conversations, ledger and cache, always at the same position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from outlast.domain.apply import apply, begin
from outlast.domain.events import FoldDiverged, Recorded
from outlast.domain.message import Message
from outlast.domain.run import RunState
from outlast.journal.fold import divergence_at, unknown_run
from outlast.runs.cache import Cache
from outlast.runs.context import Conversations
from outlast.runs.ledger import Ledger
from outlast.runs.lines import TokenCount


@dataclass(slots=True)
class Readings:
    """Everything that is read from a run's journal, event by event."""

    state: RunState
    conversations: Conversations
    ledger: Ledger
    cache: Cache
    divergences: list[FoldDiverged] = field(default_factory=list)

    def fold(self, recorded: Recorded) -> None:
        """Read one more event."""
        self.state = apply(self.state, recorded)
        self.conversations.fold(recorded)
        self.ledger.fold(recorded)
        self.cache.fold(recorded)


def read_all(
    run_id: str, history: Sequence[Recorded], count: TokenCount, thread: Iterable[Message] = ()
) -> Readings:
    """The readings of a whole journal, every recorded digest checked on the way. Raises NotFound (`unknown_run`) for none."""
    if not history:
        raise unknown_run(run_id)
    readings = Readings(begin(run_id, history[0]), Conversations(count, tuple(thread)), Ledger(), Cache())
    readings.conversations.fold(history[0])
    readings.ledger.fold(history[0])
    readings.cache.fold(history[0])
    known = {one.event.position for one in history if isinstance(one.event, FoldDiverged)}
    for recorded in history[1:]:
        found = divergence_at(readings.state, recorded)
        if found is not None and found.position not in known:
            readings.divergences.append(found)
        readings.fold(recorded)
    return readings
