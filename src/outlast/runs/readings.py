"""The readings a worker keeps of a run while it works on it: state, conversations, ledger and others, all at one position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from outlast.domain.apply import apply
from outlast.domain.events import FoldDiverged, Recorded
from outlast.domain.run import RunState
from outlast.domain.thread import ThreadSaid
from outlast.journal.fold import resumed, unknown_run
from outlast.runs.cache import Cache
from outlast.runs.context import Conversations
from outlast.runs.ledger import Ledger
from outlast.runs.lines import TokenCount
from outlast.runs.remembering.extraction import Worth
from outlast.runs.tally import Tally


@dataclass(slots=True)
class Readings:
    """Everything that is read from a run's journal, event by event."""

    state: RunState
    conversations: Conversations
    ledger: Ledger
    cache: Cache
    tally: Tally = field(default_factory=Tally)
    worth: Worth = field(default_factory=Worth)
    divergences: list[FoldDiverged] = field(default_factory=list)

    def fold(self, recorded: Recorded) -> None:
        """Read one more event."""
        self.state = apply(self.state, recorded)
        self.read(recorded)

    def read(self, recorded: Recorded) -> None:
        """Read an event whose state is known already."""
        kind = type(recorded.event)
        self.conversations.fold(recorded)
        self.tally.fold(recorded)
        if kind in Ledger.HEARS:
            self.ledger.fold(recorded)
        if kind in Cache.HEARS:
            self.cache.fold(recorded)
        if kind in Worth.HEARS:
            self.worth.fold(recorded)


def read_all(
    run_id: str,
    history: Sequence[Recorded],
    count: TokenCount,
    thread: Iterable[ThreadSaid] = (),
    snapshot: RunState | None = None,
) -> Readings:
    """The readings of a whole journal, its state by a snapshot where there is one and recorded digests compared (`resumed`).

    Raises NotFound (`unknown_run`) for an empty one.
    """
    if not history:
        raise unknown_run(run_id)
    state, divergences = resumed(run_id, history, snapshot)
    conversations = Conversations(count, tuple(thread))
    readings = Readings(state, conversations, Ledger(), Cache(), divergences=divergences)
    for recorded in history:
        readings.read(recorded)
    return readings
