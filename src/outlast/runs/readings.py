"""The readings a worker keeps of a run while it works on it: state, conversations, ledger and others, all at one position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from outlast.domain.apply import apply
from outlast.domain.events import FoldDiverged, Recorded
from outlast.domain.run import RunState
from outlast.domain.thread import ThreadSaid
from outlast.journal.fold import resumed, unknown_run
from outlast.runs.cache import Cache
from outlast.runs.context import Conversations
from outlast.runs.hearing import heard_by
from outlast.runs.ledger import Ledger
from outlast.runs.lines import TokenCount
from outlast.runs.remembering.extraction import Worth
from outlast.runs.tally import Tally

_HEARD: Final = heard_by((Conversations, Ledger, Cache, Tally, Worth))
"""What reads an event, by its kind, in the order of `Readings._all`."""


class Readings:
    """Everything that is read from a run's journal, event by event.

    The state is always that after the last event folded. The other readings follow when they are asked for or when there is time
    (`read_on`), since a decision mostly needs the state alone.
    """

    def __init__(
        self,
        state: RunState,
        conversations: Conversations,
        history: Sequence[Recorded] = (),
        divergences: Sequence[FoldDiverged] = (),
    ) -> None:
        """`state` is that after all of `history`."""
        self.state = state
        self.divergences = list(divergences)
        self._conversations = conversations
        self._ledger, self._cache, self._tally, self._worth = Ledger(), Cache(), Tally(), Worth()
        self._all = (conversations, self._ledger, self._cache, self._tally, self._worth)
        self._unread = list(history)

    def fold(self, recorded: Recorded) -> None:
        """Take in one more event."""
        self.state = apply(self.state, recorded)
        self._unread.append(recorded)

    def read_on(self) -> None:
        """Bring every reading up to the last event that was taken in."""
        unread, readings = self._unread, self._all
        if not unread:
            return
        for recorded in unread:
            event = recorded.event
            for place, heard in _HEARD.get(type(event), ()):
                heard(readings[place], recorded, event)
        self._tally.position = unread[-1].position
        unread.clear()

    @property
    def conversations(self) -> Conversations:
        """The contexts of the run."""
        if self._unread:
            self.read_on()
        return self._conversations

    @property
    def ledger(self) -> Ledger:
        """What was found and read."""
        if self._unread:
            self.read_on()
        return self._ledger

    @property
    def cache(self) -> Cache:
        """Results that may be used again."""
        if self._unread:
            self.read_on()
        return self._cache

    @property
    def tally(self) -> Tally:
        """What was used, by model, tool and subtask."""
        if self._unread:
            self.read_on()
        return self._tally

    @property
    def worth(self) -> Worth:
        """What may be remembered of the run."""
        if self._unread:
            self.read_on()
        return self._worth


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
    readings = Readings(state, conversations, history, divergences)
    readings.read_on()
    return readings
