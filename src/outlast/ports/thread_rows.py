"""Conversations as lists see them, and the items that write them."""

from __future__ import annotations

from datetime import datetime

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRow:
    """A conversation and its owner."""

    thread_id: str
    user_id: str
    title: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class InsertThread:
    """Add a thread; a thread with this id that is there already is left as it is, unless it is another user's (guard `EXISTS`)."""

    row: ThreadRow


@dataclass(frozen=True, slots=True)
class DeleteThread:
    """Delete a thread: its row and its stream, as DeleteRun does. Guards: `MISSING`; `THREAD_BUSY` (it has no run, ended or not)."""

    thread_id: str
