"""One run at work in one process: its readings, its calls in flight, and the commits that join the two.

A commit is drafted in memory, written under the position and the lease's generation it was decided at, and only then do
its calls begin. When somebody else was faster (a signal), the readings are made anew from the journal and what had come in
is placed again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final

from outlast.domain.errors import Broken, Conflict
from outlast.domain.events import (
    AnyEvent,
    Recorded,
    RunClaimed,
    RunReleased,
    StateEntered,
    SubtaskReviewed,
    ToolAnswered,
)
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.journal.append import items_to_append
from outlast.journal.history import read_history
from outlast.journal.snapshot import EVERY, snapshot_of
from outlast.ports.batch import Committed, Guard, Item
from outlast.ports.queue import Release
from outlast.ports.run_rows import UpdateRun
from outlast.ports.task_rows import InsertTask, UpdateTask
from outlast.runs.awaited import is_awaited, is_intended
from outlast.runs.background import adrift
from outlast.runs.crowd import is_found_in_time
from outlast.runs.desk import NOTHING_TO_DO, Desk, Outcome
from outlast.runs.drafting import Draft, Drafter, Started
from outlast.runs.effects import effect_of, name_of
from outlast.runs.flight import Effect, Flight
from outlast.runs.line import wake_ups
from outlast.runs.meanwhile import while_waiting
from outlast.runs.readings import Readings
from outlast.runs.relay import Relay
from outlast.runs.remembering.queue import due_for_memory
from outlast.runs.rest import Rest, rest_of
from outlast.runs.summary import row_change, thread_words

Reload = Callable[[], Awaitable[Readings]]

MAX_RACES: Final = 50

_RIDDEN_WITH: Final = frozenset({RunClaimed, RunReleased, StateEntered, SubtaskReviewed})
"""Events with which more is written than themselves."""

KILL_PATIENCE_SECONDS: Final = 0.75
"""How long a call that was cancelled may take to end, so that one that will not does not hold the run up."""


class Session:
    """A claimed run. `thread_position` is up to where it knows its thread; `given_back` says why it was, once it was."""

    def __init__(
        self, desk: Desk, readings: Readings, reload: Reload, wake: asyncio.Event, thread_position: int = 0
    ) -> None:
        self.desk = desk
        self.thread_position = thread_position
        self.readings = readings
        desk.present = lambda: self.readings.state
        self.drafter = Drafter(readings, desk.means.workflow)
        self.wake = wake
        self.is_draining = False
        self.is_cut_short = False
        self.has_signals = False
        self.relay: Relay | None = None
        self.given_back: str | None = None
        self.decided_at = desk.now()
        self._reload = reload
        self._in_flight: dict[str, Flight] = {}
        self._done: list[Outcome] = []
        self._snapshot_at = readings.state.position
        self._trouble: BaseException | None = None
        self._is_stale = False
        self._giving_back = ""
        self._unsure: list[Started] = []
        self._is_in_line = readings.state.in_line
        self._refused: set[str] = set()

    @property
    def state(self) -> RunState:
        """The run as this worker knows it."""
        return self.readings.state

    @property
    def is_busy(self) -> bool:
        """Are calls in flight or results not yet committed?"""
        return bool(self._in_flight or self._done)

    async def catch_up(self) -> bool:
        """Read what others appended; was there anything?"""
        news = await read_history(self.desk.store, self.desk.run_id, after=self.state.position)
        for recorded in news:
            self.readings.fold(recorded)
        return bool(news)

    def take_in(self, outcome: Outcome) -> None:
        """Keep something that came in, for the next commit."""
        self._done.append(outcome)

    async def advance(self) -> bool:
        """Commit what calls came to and what is due next, and begin the calls of it. False when there was nothing to write.

        Raises what a performer let out, once everything that had ended beside it is kept. When the store cannot serve, what
        calls came to is kept for the next time.
        """
        if self._is_stale:
            await self._read_anew()
            unheard = [one for one in self._done if not is_awaited(self.state, one.events)]
            self._done = [one for one in self._done if is_awaited(self.state, one.events)]
            for outcome in unheard:
                await self._give_up(outcome)
            if self._was_given_back():
                return True
            self._begin_unsure()
        outcomes, self._done = self._done, []
        try:
            has_written = await self._written(outcomes) if outcomes or self._trouble is None else False
        except BaseException:
            self._done[:0] = outcomes
            raise
        if self._trouble is not None:
            raise self._trouble
        return has_written

    async def release(self, rest: Rest) -> None:
        """Give the run back in a commit of its own. It is not given back when somebody appended meanwhile."""
        if self._is_stale:
            await self._read_anew()
            if self._was_given_back():
                return
        draft, now = Draft(), self.desk.now()
        self._place_offered(draft, now)
        await self._given_back(draft, rest, now)

    async def kill_calls(self) -> None:
        """Cancel the calls in flight and wait until nothing of them is left, for so long. What had ended before is kept."""
        tasks = [flight.kill() for flight in self._in_flight.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=KILL_PATIENCE_SECONDS)
        self._in_flight.clear()

    async def abandon(self) -> None:
        """Give up the background tasks whose handles were not kept: another worker goes on with the run and does not know them."""
        for outcome in self._done:
            await self._give_up(outcome)

    async def _give_up(self, outcome: Outcome) -> None:
        """See to work that nobody awaits any more, where that is what a call came to; what is followed all the same is left alone."""
        if outcome.handle is not None and outcome.call is not None:
            await adrift(self.desk, self.state, outcome.call, outcome.handle)

    async def _written(self, outcomes: Sequence[Outcome]) -> bool:
        for _ in range(MAX_RACES):
            draft, now = Draft(before=self.readings.state), self.desk.now()
            self._fill(draft, outcomes, now)
            if not draft.recorded:
                for outcome in draft.unheard:
                    await self._give_up(outcome)
                return False
            self._unsure, rest = draft.started, self._rest_after(draft, now)
            written = self._committed(draft) if rest is None else self._given_back(draft, rest, now)
            if await written is not None:
                self._begin_unsure(draft.effects)
                for outcome in draft.unheard:
                    await self._give_up(outcome)
                return True
            self._unsure = []
        detail = f"{MAX_RACES} commits of {self.desk.run_id} in a row met a newer event."
        raise Broken(
            "store_contended",
            detail,
            "The run is taken up again; if this lasts, see who signals it so often.",
        )

    def _fill(self, draft: Draft, outcomes: Sequence[Outcome], now: datetime) -> None:
        for outcome in outcomes:
            if is_awaited(self.readings.state, outcome.events):
                self._place(draft, outcome, now)
            elif outcome.handle is not None:
                draft.unheard = (*draft.unheard, outcome)
        if not self.is_draining and self._trouble is None:
            self.decided_at = now
            self.drafter.settle(draft, now)
        if draft.recorded:
            self._place_offered(draft, now)

    def _rest_after(self, draft: Draft, now: datetime) -> Rest | None:
        """Why the run is given back in the very commit of a draft: where nothing is left to do here once it is durable."""
        if draft.started or self.is_busy or self._trouble is not None:
            return None
        return rest_of(self.state, self.decided_at, now, is_draining=self.is_draining)

    async def _given_back(self, draft: Draft, rest: Rest, now: datetime) -> Committed | None:
        """Write a draft with the event that gives the run back; the next one is taken where that is wanted."""
        self._giving_back, lease = rest.reason, self.desk.lease.claim
        self.drafter.place(draft, RunReleased(rest.reason), now)
        is_quiet = rest.due_at is not None and is_found_in_time(rest.due_at - now)
        give_back = Release("runs", self.desk.run_id, lease.generation, rest.due_at, rest.reason, is_quiet)
        wish = None if self.relay is None else self.relay.wish()
        asked_at = self.desk.seconds()
        written = await self._committed(draft, [give_back] if wish is None else [give_back, wish])
        if written is not None:
            self.given_back = rest.reason
            if wish is not None and self.relay is not None:
                self.relay.take(written.claims, asked_at)
        return written

    def _was_given_back(self) -> bool:
        """Did the journal, read anew, turn out to hold the event that gives the run back, with all that was written beside it?"""
        if self.state.is_claimed or self.state.generation != self.desk.generation:
            return False
        self.given_back = self._giving_back
        return True

    def _place_offered(self, draft: Draft, now: datetime) -> None:
        """What was seen beside the run rides along; no commit is made for it alone."""
        if self.desk.witness is not None:
            for event in self.desk.witness.offers():
                self.drafter.place(draft, event, now)

    def _place(self, draft: Draft, outcome: Outcome, now: datetime) -> None:
        """Add what a call came to; where its handle is another task's already, what it comes to then."""
        draft.items += outcome.items
        for event in outcome.events:
            if outcome.handle is None or not isinstance(event, ToolAnswered):
                self.drafter.place(draft, event, now)
            elif event.call in self._refused and outcome.otherwise is not None:
                self.drafter.place(draft, outcome.otherwise, now)
            else:
                draft.handles[event.call] = outcome.handle
                self.drafter.place(draft, event, now)

    async def _committed(self, draft: Draft, last: Sequence[Item] = ()) -> Committed | None:
        """Write a draft. None when the journal had grown: the readings are then made anew."""
        self._is_stale = True
        recorded, state, office = draft.recorded, self.readings.state, self.desk.means.office
        appended = items_to_append(self.desk.run_id, recorded, self.desk.generation)
        joined: Sequence[Item] = ()
        if office is not None:
            before = draft.before or state
            joined = await office.joined(before, state, recorded, draft.handles, recorded[-1].at)
        items = [*appended, *joined, *draft.items, *self._row_items(recorded), *last]
        written = await while_waiting(self.desk.store.commit(items), lambda: self._prepare(draft))
        self._is_stale = False
        if self.desk.witness is not None:
            self.desk.witness.was_taken(is_durable=isinstance(written, Committed))
        if isinstance(written, Committed):
            self.readings.read_on()
            self._is_in_line = False
            return written
        if items[written.index] in joined:
            self._refuse(written.guard, items[written.index], draft)
            await self._read_anew()
            return None
        if written.guard is Guard.THREAD_BUSY:
            raise Conflict(
                "thread_busy",
                f"The thread of {self.desk.run_id} has another active run.",
                "Wait for its end.",
            )
        if written.guard is not Guard.POSITION:
            self.desk.lease.is_lost = True
            raise Broken(
                "lease_lost", f"Another worker holds {self.desk.run_id} ({written.guard}).", NOTHING_TO_DO
            )
        await self._read_anew()
        return None

    def _refuse(self, guard: Guard, item: Item, draft: Draft) -> None:
        """A row of a background task could not be written: it has gone on meanwhile, or its handle is another task's."""
        if guard is Guard.REMOTE and isinstance(item, InsertTask | UpdateTask):
            self._refused |= {
                call for call, handle in draft.handles.items() if handle.remote_id == item.row.remote_id
            }

    async def _read_anew(self) -> None:
        """Make the readings anew from the journal: what was drafted on top of them was not written, or nobody knows."""
        self.readings = await self._reload()
        self.desk.ledger, self.desk.cache = self.readings.ledger, self.readings.cache
        self.drafter.readings = self.readings
        self._is_stale = False

    def _row_items(self, recorded: Sequence[Recorded]) -> list[Item]:
        """What rides along, mostly nothing: the run's row, what waited for it, the thread's words at the end, a snapshot.

        With a snapshot the row is written too, so that little has to be read to know what a run at work has used; and with a claim,
        since it tells what can read the run from then on. Once a run has ended its row stands, and the last snapshot is taken when
        it is given back.
        """
        is_far_on = self.readings.state.position - self._snapshot_at >= EVERY
        kinds = {type(one.event) for one in recorded}
        if not is_far_on and not self._is_in_line and kinds.isdisjoint(_RIDDEN_WITH):
            return []
        items: list[Item] = [*due_for_memory(self.state, self.readings.worth, recorded)]
        entered = [one.event for one in recorded if isinstance(one.event, StateEntered)]
        is_back, is_over = RunReleased in kinds, self.state.has_ended
        if entered or is_far_on or self._is_in_line or RunClaimed in kinds or (is_back and not is_over):
            change: UpdateRun = row_change(self.readings, recorded[-1].at)
            items.append(change)
        if entered:
            items += wake_ups(self.state, recorded[-1].at)
        if any(event.target is State.COMPLETED for event in entered):
            items += thread_words(self.readings, recorded[-1].at)
        if is_far_on or (is_back and is_over):
            self._snapshot_at = self.state.position
            items.append(snapshot_of(self.state))
        return items

    def _prepare(self, draft: Draft) -> None:
        """Do, while a draft is being written, what will be needed once it is durable and shows to nobody before."""
        self.readings.read_on()
        for started in draft.started:
            if is_intended(self.state, started.intent):
                draft.effects[name_of(started)] = effect_of(self.desk, self.readings, started)

    def _begin_unsure(self, effects: Mapping[str, Effect] = MappingProxyType({})) -> None:
        """Begin the calls of the last commit, those of which the journal holds the intent: none of them was begun before.

        `effects` are those that were made ready by the readings as they are.
        """
        unsure, self._unsure = self._unsure, []
        for started in unsure:
            if is_intended(self.readings.state, started.intent):
                name = name_of(started)
                self._begin(name, effects.get(name) or effect_of(self.desk, self.readings, started))

    def _begin(self, name: str, effect: Effect) -> None:
        self._in_flight[name] = flight = Flight(lambda came: self._landed(name, came))
        flight.go_on(lambda: effect(flight))

    def _landed(self, name: str, came: Outcome | BaseException | None) -> None:
        """Keep what a call came to for the next commit; what a performer let out ends the session, raised where it commits."""
        events: Sequence[AnyEvent] = ()
        if isinstance(came, Outcome):
            self._done.append(came)
            events = came.events
        elif came is not None:
            self._trouble = came
        self._in_flight.pop(name, None)
        if self.desk.witness is not None:
            self.desk.witness.hears(name, events)
        self.wake.set()
