"""The one write verb's words: what a batch may hold, and what became of it."""

from __future__ import annotations

from enum import StrEnum

from outlast.domain.dataclass import dataclass
from outlast.ports.queue import Claim, ClaimDue, Enqueue, Release
from outlast.ports.run_rows import DeleteRun, InsertRun, UpdateRun
from outlast.ports.stream import Append, CopyPayloads, PutPayload, PutSnapshot, SweepPayloads
from outlast.ports.task_rows import DeleteTask, InsertTask, UpdateTask
from outlast.ports.thread_rows import DeleteThread, InsertThread

Write = (
    Append
    | InsertRun
    | UpdateRun
    | InsertThread
    | PutSnapshot
    | PutPayload
    | CopyPayloads
    | Enqueue
    | Release
    | DeleteRun
    | DeleteThread
    | SweepPayloads
    | InsertTask
    | UpdateTask
    | DeleteTask
)
"""What changes something that is named."""

Item = Write | ClaimDue


class Guard(StrEnum):
    """Why a batch was refused."""

    POSITION = "position"
    GENERATION = "generation"
    EXISTS = "exists"
    KEY = "key"
    MISSING = "missing"
    THREAD_BUSY = "thread_busy"
    ACTIVE = "active"
    NAME = "name"
    REMOTE = "remote"
    REVISION = "revision"


@dataclass(frozen=True, slots=True)
class Committed:
    """All items of the batch are durable. `claims` are the leases that its `ClaimDue` have taken, in their order.

    After a lost connection they may not be known: whoever has asked for them has none then, and they run out by themselves.
    """

    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was written: the guard of the item at `index` failed."""

    guard: Guard
    index: int
