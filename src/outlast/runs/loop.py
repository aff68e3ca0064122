"""The loop: fold, decide, perform, commit, until the run has ended, waits for somebody, or is handed back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

from outlast.domain.errors import Broken
from outlast.domain.states import HELD, State
from outlast.ports.watch import Watch
from outlast.runs.decide import next_timer
from outlast.runs.desk import NOTHING_TO_DO
from outlast.runs.session import Session

LONGEST_WAIT_SECONDS: Final = 60.0
"""A worker sits out shorter waits; for longer ones it gives the run back until it is due."""

STORE_TROUBLES: Final = frozenset({"store_unavailable", "store_refused", "store_full", "commit_unknown"})
"""What a store may get over while the lease still holds."""

SAFETY_POLL_SECONDS: Final = 10.0
"""Signals are looked for this often even when nobody tells of them."""


T = TypeVar("T")


async def drive(session: Session) -> str:
    """Work on a claimed run until it is given back; returns why it was. Raises Broken (`lease_lost`) when it was taken away."""
    watch = session.desk.store.watch([f"signals:{session.desk.run_id}"])
    listener = asyncio.create_task(_listen(session, watch))
    try:
        while True:
            session.wake.clear()
            await _one_turn(session)
            rest = _rest(session)
            if rest is not None:
                reason, due_at = rest
                if await patiently(session, partial(session.release, reason, due_at)):
                    return reason
                continue
            await _wait(session)
    finally:
        listener.cancel()
        watch.stop()
        await session.kill_calls()
        await session.abandon()


async def _one_turn(session: Session) -> None:
    """Take in what others said, then commit what came in and what is due."""
    if session.desk.lease.is_lost:
        raise Broken("lease_lost", f"The lease on {session.desk.run_id} was lost.", NOTHING_TO_DO)
    if session.has_signals:
        session.has_signals = False
        await session.catch_up()
    if session.state.wants_cancel is not None or session.is_cut_short:
        await session.kill_calls()
    await patiently(session, session.advance)
    if session.state.state in (State.COMPLETED, State.CANCELLED):
        await session.kill_calls()


async def patiently(session: Session, attempt: Callable[[], Awaitable[T]]) -> T:
    """What an attempt to commit comes to; while the store cannot serve, it is made again for as long as the lease surely holds."""
    wait_seconds = 0.05
    while True:
        try:
            return await attempt()
        except Broken as error:
            if error.code not in STORE_TROUBLES or not session.desk.is_mine():
                raise
        await asyncio.sleep(wait_seconds)
        wait_seconds = min(wait_seconds * 2, 2.0)


def _rest(session: Session) -> tuple[str, datetime | None] | None:
    """Why and until when the run is given back; None while there is something to wait for here."""
    state = session.state
    if session.is_busy and state.state not in (State.COMPLETED, State.CANCELLED):
        return None
    timer = next_timer(state, session.decided_at)
    if state.has_ended:
        return "ended", None
    if state.state in HELD:
        return str(state.state).lower(), timer
    now = session.desk.now()
    if session.is_draining:
        return "shutdown", now
    if timer is None:
        return "nothing to do", None
    return ("waiting to try again", timer) if timer - now > timedelta(seconds=LONGEST_WAIT_SECONDS) else None


async def _wait(session: Session) -> None:
    """Until a call ends, a signal comes, or a timer is due."""
    timer = next_timer(session.state, session.decided_at) if session.state.is_working else None
    if timer is None:
        await session.wake.wait()
        return
    seconds = max(0.0, (timer - session.desk.now()).total_seconds()) + 0.001
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await session.wake.wait()


async def _listen(session: Session, watch: Watch) -> None:
    """Wake the session when somebody appended to its journal."""
    while True:
        await watch.wait(SAFETY_POLL_SECONDS)
        session.has_signals = True
        session.wake.set()
