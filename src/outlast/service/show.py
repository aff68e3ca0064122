"""A run as people and programs see it: the `show` document, and rows for lists."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.errors import NotFound
from outlast.domain.events import ReportWritten
from outlast.domain.report import Report
from outlast.domain.run import RunState, SubtaskState
from outlast.domain.states import ENDED, State
from outlast.domain.task import TaskDefinition
from outlast.journal.fold import load_state, unknown_run
from outlast.journal.history import read_history
from outlast.journal.thread import read_thread_words
from outlast.ports.queue import QueueEntry
from outlast.ports.run_rows import RunFilter, RunRow
from outlast.ports.store import Store
from outlast.runs.limits import LIMIT_NAMES
from outlast.runs.summary import subtasks_of, summary_of
from outlast.runs.tally import Spent, Tally
from outlast.service.reports.document import to_document
from outlast.service.tallies import tally_of


async def pinned_definition(store: Store, run_id: str) -> TaskDefinition:
    """The definition a run is pinned to. Raises NotFound (`unknown_run`)."""
    return (await load_state(store, run_id)).definition


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a run's lease, and until when; `note` is why the last worker gave it back."""

    holder: str | None
    until: datetime | None
    note: str


async def show_run(store: Store, run_id: str, user_id: str | None = None) -> dict[str, Any]:
    """The `show` document of a run. Raises NotFound (`unknown_run`), also for another user's run."""
    row = await owned_row(store, run_id, user_id)
    state = await load_state(store, run_id)
    report = await read_report(store, state)
    return {
        **_listed(row, summary_of(state), state),
        "spent": spent_document(await tally_of(store, row)),
        "limits": {name: getattr(state.limits, name) for name in LIMIT_NAMES},
        "plan": [_planned(item) for item in state.plan],
        "answer": await _answer(store, state) if report is None else None,
        "report": to_document(report) if report is not None else None,
    }


def spent_document(tally: Tally) -> dict[str, Any]:
    """What a run used, by role and by subtask, null being what belongs to none; of a fork, since it was forked."""
    return {
        "by_role": [{"role": role, **_spent(spent)} for role, spent in tally.by_role().items()],
        "by_subtask": [
            {"subtask": name or None, **_spent(spent)} for name, spent in tally.by_subtask().items()
        ],
    }


def _spent(spent: Spent) -> dict[str, Any]:
    return {**asdict(spent), "cost_usd": round(spent.cost_usd, 6)}


async def list_runs(store: Store, wanted: RunFilter) -> list[dict[str, Any]]:
    """Runs newest first, each as in `show` without plan and report. Runs at work are read as they stand now."""
    return await as_listed(store, await store.list_runs(wanted))


async def as_listed(store: Store, rows: Iterable[RunRow]) -> list[dict[str, Any]]:
    """The documents of `list_runs` for these rows."""
    documents = []
    for row in rows:
        state = await load_state(store, row.run_id) if row.state not in ENDED else None
        summary = summary_of(state) if state is not None else json.loads(row.summary)
        documents.append(_listed(row, summary, state))
    return documents


async def read_report(store: Store, state: RunState) -> Report | None:
    """The report of a run, if one was written."""
    if not state.report_position:
        return None
    found = await read_history(store, state.run_id, after=state.report_position - 1, limit=1)
    event = found[0].event if found else None
    return event.report if isinstance(event, ReportWritten) else None


async def run_report(store: Store, run_id: str, user_id: str | None = None) -> Report:
    """The report of a run. Raises NotFound: `unknown_run`, also for another user's run, and `no_report`."""
    await owned_row(store, run_id, user_id)
    report = await read_report(store, await load_state(store, run_id))
    if report is None:
        raise await no_report(store, run_id)
    return report


async def owned_row(store: Store, run_id: str, user_id: str | None = None) -> RunRow:
    """The row of a run of this user (None: of anybody). Raises NotFound (`unknown_run`)."""
    row = await store.read_run(run_id)
    if row is None or (user_id is not None and row.user_id != user_id):
        raise unknown_run(run_id)
    return row


async def is_over(store: Store, run_id: str, position: int) -> bool:
    """Has a run ended, its worker left it, and nothing happened after `position`?"""
    state = await load_state(store, run_id)
    return state.has_ended and not state.is_claimed and state.position <= position


async def holder_of(store: Store, run_id: str) -> Holder:
    """Who works on a run, by its lease."""
    entry: QueueEntry | None = await store.read_entry("runs", run_id)
    if entry is None:
        return Holder(None, None, "")
    is_live = entry.until is not None and entry.until > await store.now()
    return Holder(entry.holder if is_live else None, entry.until if is_live else None, entry.note)


async def no_report(store: Store, run_id: str) -> NotFound:
    """The error for a run without a report, which says where it stands."""
    state = await load_state(store, run_id)
    return NotFound(
        "no_report", f"{run_id} has no report; it is {state.state}.", f"See `outlast show {run_id}`."
    )


async def _answer(store: Store, state: RunState) -> str | None:
    """What a completed conversation answered: the last words it left in its thread, in the commit that completed it."""
    if state.state is not State.COMPLETED:
        return None
    from_thread = await read_thread_words(store, state.thread_id)
    return next(
        (
            words.text
            for words in reversed(from_thread)
            if words.run_id == state.run_id and words.speaker == "assistant"
        ),
        None,
    )


def _listed(row: RunRow, summary: dict[str, Json], state: RunState | None) -> dict[str, Any]:
    shown = state.state if state is not None else row.state
    has_ended = shown in ENDED
    return {
        "run_id": row.run_id,
        "thread_id": row.thread_id,
        "task": row.task,
        "state": str(shown),
        "outcome": state.outcome if state is not None else row.outcome,
        "input": summary.get("input", ""),
        "subtasks": subtasks_of(state) if state is not None else summary.get("subtasks", []),
        "steps": summary.get("steps", 0),
        "tokens": summary.get("tokens", 0),
        "cost_usd": summary.get("cost_usd", 0.0),
        "started_at": row.created_at.isoformat(),
        "ended_at": row.updated_at.isoformat() if has_ended else None,
        "waiting_for": summary.get("waiting_for", []),
        "error": summary.get("error"),
    }


def _planned(item: SubtaskState) -> dict[str, Any]:
    return {
        "id": item.subtask.id,
        "question": item.subtask.question,
        "done_when": item.subtask.done_when,
        "depends_on": list(item.subtask.depends_on),
    }
