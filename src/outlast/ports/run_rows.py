"""Runs as lists see them, and the items that write them."""

from __future__ import annotations

from datetime import datetime

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run as lists see it. `summary` is a JSON object that the service layer understands.

    `key` is the caller's idempotency key, unique for a user. `is_active` is False once the run has ended; a thread has at most
    one active run. `min_reader` is the lowest reader version that understands every event of the run.
    """

    run_id: str
    thread_id: str
    user_id: str
    task: str
    state: str
    is_active: bool
    created_at: datetime
    updated_at: datetime
    summary: str
    key: str | None = None
    outcome: str | None = None
    min_reader: int = 1


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to list, newest first. None means any."""

    user_id: str | None = None
    thread_id: str | None = None
    state: str | None = None
    task: str | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class InsertRun:
    """Add a run. Guards: `EXISTS` (no run has this id), `KEY` (no run of this user has this key), `THREAD_BUSY` (it is not active,
    or its thread has no other active run), `MISSING` (its thread exists, or is made by an InsertThread earlier in the batch)."""

    row: RunRow


@dataclass(frozen=True, slots=True)
class UpdateRun:
    """Replace what changes of a run's row. Guards: `MISSING`; `GENERATION` when given, as for Append with queue `runs`;
    `THREAD_BUSY` when it makes the run active again and its thread has another active run."""

    run_id: str
    state: str
    is_active: bool
    outcome: str | None
    updated_at: datetime
    summary: str
    min_reader: int
    generation: int | None = None


@dataclass(frozen=True, slots=True)
class DeleteRun:
    """Delete a run: its row, its entry in the queue `runs`, its stream with snapshot and payload references, and every payload
    to which no other stream refers. Guards: `MISSING`; `ACTIVE` (the run has ended); `POSITION` (its stream ends at `at`)."""

    run_id: str
    at: int
