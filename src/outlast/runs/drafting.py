"""From commands to events: what a decision records, in the order it asks, until nothing more is due or a call has to be made.

Everything a commit will hold is drafted in memory first; the effects of the calls in it begin only when it is durable.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from outlast.domain.commands import AskMemory, CallModel, CallTool, Command, ComposeReport, Record, RunHook
from outlast.domain.dataclass import dataclass
from outlast.domain.door import clean_text, in_words, stored_form
from outlast.domain.errors import CallerMistake, OutlastError
from outlast.domain.events import (
    AnyEvent,
    HookRequested,
    MemoryRecalled,
    ModelRequested,
    RecallRequested,
    Recorded,
    RunClaimed,
    StateEntered,
    ToolRequested,
    ValueSet,
)
from outlast.domain.quick import maker_of, quick
from outlast.domain.run import RunState
from outlast.domain.states import WORKING, State, may_follow
from outlast.journal.snapshot import state_digest
from outlast.ports.background_driver import Handle
from outlast.ports.batch import Item
from outlast.runs.calls import may_begin
from outlast.runs.commanded import MEND, Refused, recordable
from outlast.runs.decide import Workflow, decide
from outlast.runs.desk import Outcome
from outlast.runs.drafts import composed_event
from outlast.runs.flight import Effect
from outlast.runs.limits import limit_crossed
from outlast.runs.making_room import DIGEST_CHARACTERS, SUMMARY_FORM, is_roomy, make_room
from outlast.runs.money import model_asked, reserve_for
from outlast.runs.moves import fail
from outlast.runs.readings import Readings
from outlast.runs.transitions import working_states

MAX_EVENTS: Final = 500
"""How many events one commit may hold; a workflow that records more at a stroke does not come to rest."""

MOST_SAID: Final = 4000
"""How many characters are kept of why a run failed."""

_model_requested = maker_of(ModelRequested)

Intent = ModelRequested | ToolRequested | HookRequested | RecallRequested
"""What is in the journal before a call is made."""


@quick
@dataclass(frozen=True, slots=True)
class Started:
    """An intent that was drafted, and the command behind it."""

    intent: Intent
    command: CallModel | CallTool | RunHook | AskMemory


class Draft:
    """The events of a commit, what is written with them, and the effects that begin once it is durable.

    `before` is the state they came upon, `handles` are those of background tasks by the calls that began them, `unheard` is what
    came with a handle that nobody awaits, `effects` are those made ready so far, by name.
    """

    __slots__ = ("before", "effects", "handles", "items", "recorded", "started", "unheard")

    def __init__(self, before: RunState | None = None) -> None:
        self.before = before
        self.recorded: list[Recorded] = []
        self.items: list[Item] = []
        self.handles: dict[str, Handle] = {}
        self.unheard: tuple[Outcome, ...] = ()
        self.started: list[Started] = []
        self.effects: dict[str, Effect] = {}


class Drafter:
    """Drafts commits for one run.

    `has_nothing_to_recall` says that memory held nothing when the run was taken up: what the commit of its claim would ask memory
    is answered in that commit.
    """

    def __init__(self, readings: Readings, workflow: Workflow) -> None:
        self.readings = readings
        self.has_nothing_to_recall = False
        self._workflow = workflow

    def place(self, draft: Draft, event: AnyEvent, now: datetime) -> None:
        """Add an event at the next position and read it."""
        recorded = Recorded(self.readings.state.position + 1, now, event)
        self.readings.fold(recorded)
        draft.recorded.append(recorded)

    def settle(self, draft: Draft, now: datetime) -> None:
        """Decide, record and decide again until nothing is due. A workflow that raises or never rests fails the run.

        Intents alone make nothing else due: what a decision asks for at once, it asks for together.
        """
        while len(draft.recorded) < MAX_EVENTS:
            try:
                commands = decide(self.readings.state, now, self._workflow)
            except Refused as refused:
                self._fail(draft, now, "workflow_failed", str(refused))
                return
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a user's workflow may raise anything
                self._fail(draft, now, "workflow_failed", f"The workflow raised {in_words(error)}")
                return
            if not commands:
                return
            before, begun = len(draft.recorded), len(draft.started)
            self._record_all(draft, commands, now)
            if len(draft.recorded) - before == len(draft.started) - begun:
                return
        self._fail(
            draft,
            now,
            "workflow_restless",
            f"The workflow recorded {MAX_EVENTS} events without coming to rest.",
        )

    def _record_all(self, draft: Draft, commands: Sequence[Command], now: datetime) -> None:
        """Record commands in order; after a transition the rest is decided anew."""
        for command in commands:
            before = self.readings.state.state
            try:
                self._record(draft, command, now)
            except OutlastError as error:
                self._fail(draft, now, error.code, error.detail)
                return
            if self.readings.state.state is not before:
                return

    def _record(self, draft: Draft, command: Command, now: datetime) -> None:
        match command:
            case CallModel():
                self._intend_model(draft, command, now)
            case CallTool():
                self._intend_tool(draft, command, now)
            case Record(event=StateEntered() as event):
                self.place(draft, recordable(self._checked(event)), now)
            case Record(event=ValueSet(name=name, value=value)):
                self.place(draft, recordable(ValueSet(name, stored_form(value))), now)
            case Record(event=event):
                self.place(draft, recordable(event), now)
            case RunHook(hook=hook, point=point, subject=subject):
                self._must_be_of_task(hook)
                asked = HookRequested(hook, point, subject, self.readings.state.generation)
                self._start(draft, Started(asked, command), now)
            case AskMemory():
                self._intend_recall(draft, command, now)
            case ComposeReport(outcome=outcome, reason=reason):
                written = self.readings.conversations.report
                state, ledger = self.readings.state, self.readings.ledger
                self.place(draft, composed_event(state, ledger, written, outcome, reason), now)

    def _must_be_of_task(self, hook: str) -> None:
        if hook not in self.readings.state.definition.hooks.values():
            detail = f"The workflow asked for {hook!r}, which is none of the hooks of the task."
            raise CallerMistake("workflow_failed", detail, MEND)

    def _start(self, draft: Draft, started: Started, now: datetime) -> None:
        self.place(draft, started.intent, now)
        draft.started.append(started)

    def _intend_recall(self, draft: Draft, command: AskMemory, now: datetime) -> None:
        """The intent to ask memory, where the branch still needs it."""
        state = self.readings.state
        branch = state.branches.get(command.branch)
        if branch is not None and branch.recall is not None:
            name = f"k{state.position + 1}"
            query = branch.recall.query
            asked = RecallRequested(name, branch.id, query, state.generation)
            if self._is_answered_already(draft):
                self.place(draft, asked, now)
                self.place(draft, MemoryRecalled(name, branch.id, query), now)
            else:
                self._start(draft, Started(asked, command), now)

    def _is_answered_already(self, draft: Draft) -> bool:
        """Is it known that nothing would be recalled: by this very claim, before the run has found anything itself?"""
        is_of_claim = bool(draft.recorded) and isinstance(draft.recorded[0].event, RunClaimed)
        has_found = bool(self.readings.state.plan or self.readings.ledger.entries())
        return self.has_nothing_to_recall and is_of_claim and not has_found

    def _intend_tool(self, draft: Draft, command: CallTool, now: datetime) -> None:
        """The intent of a tool call, where there is room for it: other intents of this draft have taken theirs."""
        state = self.readings.state
        call = state.calls.get(command.call)
        if call is None or not may_begin(state, call):
            return
        requested = ToolRequested(command.call, state.generation, command.attempt, command.edited)
        self._start(draft, Started(requested, command), now)

    def _intend_model(self, draft: Draft, command: CallModel, now: datetime) -> None:
        """The intent of a model call, unless it would cross a limit.

        Where the context has to be compressed first, the intent may be to ask for a summary; the command then comes again.
        """
        state = self.readings.state
        branch = state.branches.get(command.branch)
        if branch is None:
            detail = f"There is no conversation {command.branch!r} to ask a model in."
            raise CallerMistake("unknown_branch", detail, "Open it with `open_branch` first.")
        conversation = self.readings.conversations[command.branch]
        conversation.settle()
        if not is_roomy(conversation, state.definition):
            summary = make_room(self.readings, branch, now, lambda event: self.place(draft, event, now))
            if summary is not None:
                asked = CallModel(branch.id, summary.purpose, SUMMARY_FORM, with_tools=False)
                self._start(draft, Started(summary, asked), now)
                return
        model = model_asked(state, branch)
        tokens, usd = reserve_for(model, conversation.tokens)
        crossed = limit_crossed(state, now, tokens, usd)
        if crossed is not None:
            self.place(draft, crossed, now)
            return
        intent = _model_requested(
            call=f"m{self.readings.state.position + 1}",
            branch=command.branch,
            purpose=command.purpose,
            role=branch.role,
            model=model.model,
            generation=state.generation,
            digest=conversation.digest[:DIGEST_CHARACTERS],
            reserved_tokens=tokens,
            reserved_usd=usd,
            with_tools=command.with_tools,
            option=branch.option,
        )
        self._start(draft, Started(intent, command), now)

    def _checked(self, event: StateEntered) -> StateEntered:
        """A transition from where the run really is, with the digest of the state before it."""
        state = self.readings.state
        is_left_out = event.target in WORKING and event.target not in working_states(state)
        if is_left_out or not may_follow(state.state, event.target):
            why = "; the task leaves that state out" if is_left_out else ""
            detail = f"A run cannot go from {state.state} to {event.target}{why}."
            raise CallerMistake("transition_not_allowed", detail, "Mend the workflow.")
        return StateEntered(
            state.state,
            event.target,
            event.reason,
            event.outcome,
            state_digest(state),
            event.code,
            event.detail,
            event.next_step,
        )

    def _fail(self, draft: Draft, now: datetime, code: str, detail: str) -> None:
        state = self.readings.state
        if state.state in (State.COMPLETED, State.CANCELLED, State.FAILED):
            raise CallerMistake(code, detail, MEND)
        command = fail(state, code, clean_text(detail)[:MOST_SAID], MEND)
        assert isinstance(command.event, StateEntered)
        self.place(draft, self._checked(command.event), now)
