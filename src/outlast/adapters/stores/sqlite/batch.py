"""One batch of items inside a transaction: all of them are written, or the transaction is as if it had never been asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from outlast.adapters.stores.sqlite import journal, queues, removal, rows, tasks
from outlast.adapters.stores.sqlite.session import Session
from outlast.adapters.stores.watches import topics_of
from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.queue import Claim, ClaimDue, Enqueue, Release
from outlast.ports.run_rows import DeleteRun, InsertRun, UpdateRun
from outlast.ports.stream import Append, CopyPayloads, PutPayload, PutSnapshot, SweepPayloads
from outlast.ports.task_rows import DeleteTask, InsertTask, UpdateTask
from outlast.ports.thread_rows import DeleteThread, InsertThread

_COMMITTED = Committed()


def write_batch(session: Session, batch: Sequence[Item]) -> Committed | Refused:
    """Write every item, or none and name the guard that failed."""
    if len(batch) == 1:
        guard = _write(session, batch[0])
        if guard is not None:
            return Refused(guard, 0)
    else:
        refused = _write_all(session, batch)
        if refused is not None:
            return refused
    claims: list[Claim] = []
    for item in batch:
        if isinstance(item, ClaimDue):
            claims += queues.claim_due(session, item)
        else:
            session.touched.update(topics_of(item))
    return Committed(tuple(claims)) if claims else _COMMITTED


def _write_all(session: Session, batch: Sequence[Item]) -> Refused | None:
    session.connection.execute("SAVEPOINT batch")
    numbers = session.first_seq, session.last_seq
    for index, item in enumerate(batch):
        guard = _write(session, item)
        if guard is not None:
            session.connection.execute("ROLLBACK TO batch")
            session.connection.execute("RELEASE batch")
            session.first_seq, session.last_seq = numbers  # those of what is undone are given to others
            return Refused(guard, index)
    session.connection.execute("RELEASE batch")
    return None


def _write(session: Session, item: Item) -> Guard | None:  # noqa: C901 - one case an item
    match item:
        case Append():
            return journal.append_if_at(session, item)
        case InsertRun():
            return rows.insert_run(session, item.row)
        case UpdateRun():
            return rows.update_run(session, item)
        case InsertThread():
            return rows.insert_thread(session, item.row)
        case PutSnapshot():
            journal.put_snapshot(session, item)
        case PutPayload():
            journal.put_payload(session, item)
        case CopyPayloads():
            return journal.copy_payloads(session, item)
        case Enqueue():
            queues.enqueue(session, item)
        case Release():
            return queues.release(session, item)
        case ClaimDue():
            pass  # taken when all items are written
        case DeleteRun():
            return removal.delete_run(session, item)
        case DeleteThread():
            return removal.delete_thread(session, item)
        case SweepPayloads():
            removal.sweep_payloads(session, item)
        case InsertTask():
            return tasks.insert_task(session, item.row)
        case UpdateTask():
            return tasks.update_task(session, item)
        case DeleteTask():
            return tasks.delete_task(session, item)
        case _:
            assert_never(item)
    return None
