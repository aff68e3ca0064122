"""The loop: fold, decide, perform, commit, until the run has ended, waits for somebody, or is handed back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

from outlast.domain.errors import Broken
from outlast.domain.states import State
from outlast.runs.decide import next_timer
from outlast.runs.desk import NOTHING_TO_DO
from outlast.runs.rest import rest_of
from outlast.runs.session import Session

STORE_TROUBLES: Final = frozenset({"store_unavailable", "store_refused", "store_full", "commit_unknown"})
"""What a store may get over while the lease still holds."""

SAFETY_POLL_SECONDS: Final = 10.0
"""Signals are looked for this often even when nobody tells of them."""

_OVER: Final = frozenset({State.COMPLETED, State.CANCELLED})
"""States in which nobody waits for calls in flight any more."""


T = TypeVar("T")


async def drive(session: Session) -> str:
    """Work on a claimed run until it is given back; returns why it was. Raises Broken (`lease_lost`) when it was taken away."""
    listener = _Listener(session)
    try:
        while session.given_back is None:
            session.wake.clear()
            await _one_turn(session)
            if session.given_back is None:
                await _rest_or_wait(session)
        return session.given_back
    finally:
        listener.stop()
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
    if session.state.state in _OVER:
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


def _rest_or_wait(session: Session) -> Awaitable[object]:
    """Giving the run back where nothing is left to do for it here, else waiting: for a call that ends, a signal or a timer."""
    rest, state = None, session.state
    if not session.is_busy or state.state in _OVER:
        now = session.desk.now()
        rest = rest_of(state, session.decided_at, now, is_draining=session.is_draining)
    if rest is not None:
        return patiently(session, partial(session.release, rest))
    timer = next_timer(state, session.decided_at) if state.is_working else None
    return session.wake.wait() if timer is None else _wait_until(session, timer)


async def _wait_until(session: Session, timer: datetime) -> None:
    """Until the session is woken, by the timer at the latest."""
    seconds = max(0.0, (timer - session.desk.now()).total_seconds()) + 0.001
    alarm = asyncio.get_running_loop().call_later(seconds, session.wake.set)
    try:
        await session.wake.wait()
    finally:
        alarm.cancel()


class _Listener:
    """Wakes a session when somebody appended to its journal, until it is stopped."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._watch = session.desk.store.watch([f"signals:{session.desk.run_id}"])
        self._watch.hear(self._heard)
        self._look_later()

    def stop(self) -> None:
        """Wake it no more."""
        self._timer.cancel()
        self._watch.stop()

    def _heard(self) -> None:
        self._session.has_signals = True
        self._session.wake.set()

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(SAFETY_POLL_SECONDS, self._look)

    def _look(self) -> None:
        self._heard()
        self._look_later()
