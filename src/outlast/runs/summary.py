"""A run in a row: what lists show of it without reading its journal, and what its thread keeps of it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from outlast.domain.door import Json, json_writer
from outlast.domain.run import MAIN_BRANCH, RunState, SubtaskState
from outlast.domain.thread import ThreadSaid
from outlast.journal.codec import encode
from outlast.journal.upcast import READER
from outlast.ports.batch import Item
from outlast.ports.run_rows import UpdateRun
from outlast.ports.stream import Append, EventRow, PutPayload
from outlast.runs.readings import Readings
from outlast.runs.tally import as_plain

_dump: Final = json_writer(spaced=True)

SHOWN_INPUT: Final = 2000
"""How much of a run's input lists carry, in characters."""


def summary_of(state: RunState) -> dict[str, Json]:
    """The parts of a run's `show` document that its row carries; subtasks only once it has ended, for until then they are read."""
    failure = state.failure
    return {
        "input": state.input[:SHOWN_INPUT],
        "subtasks": subtasks_of(state) if state.has_ended else [],
        "steps": state.counters.steps,
        "tokens": state.counters.tokens,
        "cost_usd": round(state.counters.cost_usd, 6),
        "waiting_for": [*waiting_for(state)],
        "error": {"code": failure.code, "detail": failure.detail, "next": failure.next_step}
        if failure
        else None,
        "is_shadowed": is_shadowed(state),
    }


def is_shadowed(state: RunState) -> bool:
    """Does a run choose steps that are shadowed? Where it does, its row says so."""
    shadow = state.definition.settings.get("shadow")
    return isinstance(shadow, dict) and bool(shadow.get("steps"))


def waiting_for(state: RunState) -> list[str]:
    """What a run waits for a person for: approvals and answers."""
    waiting = [f"approval {ticket.id}: {ticket.subject}" for ticket in state.open_tickets()]
    waiting += ["its turn in the thread"] if state.in_line else []
    waiting += [f"background task {name}" for name in awaited_names(state)]
    return waiting + [f"answer {question.id}: {question.text}" for question in state.open_questions()]


def awaited_names(state: RunState) -> list[str]:
    """The names of the background tasks that branches of the run stand still for."""
    branches = state.branches
    return [
        task.name
        for task in state.background.values()
        if task.branch in branches and state.awaits(branches[task.branch]) and not state.has_ended
    ]


def subtasks_of(state: RunState) -> list[Json]:
    """The subtasks of the present plan, as `show` has them: how far each is and what it found."""
    return [_worked(item) for item in state.plan]


def started_summary(words: str) -> str:
    """The summary of a run that has only been started."""
    nothing: dict[str, Json] = {"input": words[:SHOWN_INPUT], "steps": 0, "tokens": 0, "cost_usd": 0.0}
    return _dump({**nothing, "waiting_for": [], "error": None})


def row_change(readings: Readings, at: datetime) -> UpdateRun:
    """The run's row as it must be once the readings hold: with the tally, from which figures over many runs are made."""
    state = readings.state
    summary = {**summary_of(state), "tally": as_plain(readings.tally)}
    return UpdateRun(
        run_id=state.run_id,
        state=str(state.state),
        is_active=state.is_active,
        outcome=state.outcome,
        updated_at=at,
        summary=_dump(summary),
        min_reader=READER,
        generation=state.generation,
    )


def final_words(readings: Readings) -> str:
    """What a completed run says to its thread: the answer of its conversation, or the report's title and how to read it."""
    state = readings.state
    conversation = readings.conversations.get(MAIN_BRANCH)
    if conversation is not None and conversation.last_words:
        return conversation.last_words
    if state.report_position:
        return f"{state.report_title} (report of {state.run_id})"
    return f"{state.run_id} ended without an answer."


def said_first(state: RunState, at: datetime, tasks: str, *, is_turn: bool) -> list[Item]:
    """The items that add to a thread what a run is shown of background tasks, and what it was asked if its turn has come only now."""
    shown = said_items(state.thread_id, ThreadSaid(state.run_id, "tasks", tasks), at) if tasks else []
    asked = said_items(state.thread_id, ThreadSaid(state.run_id, "user", state.input), at) if is_turn else []
    return [*shown, *asked]


def thread_words(readings: Readings, at: datetime) -> list[Item]:
    """The items that add a completed run's answer to its thread."""
    said = ThreadSaid(readings.state.run_id, "assistant", final_words(readings))
    return said_items(readings.state.thread_id, said, at)


def said_items(thread_id: str, said: ThreadSaid, at: datetime) -> list[Item]:
    """The items that add words to a thread."""
    body, kept = encode(said)
    row = EventRow(1, type(said).__name__, said.VERSION, at, body)
    payloads = [PutPayload(thread_id, digest, content) for digest, content in kept.items()]
    return [Append(thread_id, None, (row,)), *payloads]


def _worked(item: SubtaskState) -> dict[str, Json]:
    return {
        "id": item.subtask.id,
        "state": str(item.progress),
        "rounds": item.rounds,
        "remarks": list(item.remarks),
        "conclusions": [
            {
                "id": one.id,
                "claim": one.claim,
                "sources": list(one.sources),
                "quote": one.quote,
                "confidence": one.confidence,
            }
            for one in item.conclusions
        ],
        "open_questions": list(item.open_questions),
    }
