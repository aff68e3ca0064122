"""Why is this run not moving? Read from its row, its lease and what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outlast.cli.presence import live_workers
from outlast.domain.ids import LOCAL_USER
from outlast.ports.queue import QueueEntry
from outlast.ports.store import Store
from outlast.service.show import show_run
from outlast.wiring.identity import as_name, is_surely_gone, read_holder


async def diagnose(store: Store, run_id: str) -> dict[str, Any]:
    """The facts about a run that is or is not moving, with `why` and `next` in words. Raises NotFound (`unknown_run`)."""
    shown = await show_run(store, run_id, LOCAL_USER)
    entry, now = await store.read_entry("runs", run_id), await store.now()
    facts: dict[str, Any] = {
        "run_id": run_id,
        "thread_id": shown["thread_id"],
        "state": shown["state"],
        "holder": None,
        "holder_is": None,
        "lease_until": None,
        "due_at": entry.due_at.isoformat() if entry is not None and entry.due_at is not None else None,
        "note": entry.note if entry is not None else "",
        "waits_for": shown["waiting_for"],
        "error": shown["error"],
        "workers": await live_workers(store),
    }
    if entry is not None and entry.until is not None and entry.holder is not None:
        facts |= _holder(entry, is_live=entry.until > now)
    is_due = entry is not None and entry.due_at is not None and entry.due_at <= now
    why, what_next = _explained(facts, is_due)
    return {**facts, "why": why, "next": what_next.replace("RUN", run_id)}


def _holder(entry: QueueEntry, *, is_live: bool) -> dict[str, Any]:
    assert entry.holder is not None
    assert entry.until is not None
    identity = read_holder(entry.holder)
    is_gone = is_surely_gone(entry.holder)
    return {
        "holder": as_name(identity) if identity is not None else entry.holder,
        "holder_is": "gone" if is_gone else "alive" if is_live else "silent",
        "lease_until": entry.until.isoformat(),
    }


def _explained(facts: dict[str, Any], is_due: bool) -> tuple[str, str]:
    """Why the run stands where it stands, and what to do."""
    state, holder = facts["state"], facts["holder"]
    if state in _BY_STATE:
        return _BY_STATE[state](facts)
    if "its turn in the thread" in facts["waits_for"]:
        return (
            "It waits its turn: another run of its thread has not ended.",
            f"See which with `outlast threads show {facts['thread_id']}`.",
        )
    if facts["holder_is"] == "alive":
        return f"It is being worked on by {holder}.", "Watch it with `outlast trace RUN --follow`."
    if facts["holder_is"] == "gone":
        return (
            f"The process that worked on it ({holder}) is gone.",
            "`outlast resume RUN` takes it over at once.",
        )
    if facts["holder_is"] == "silent":
        return (
            f"{holder} has not been heard of since its lease ran out.",
            "`outlast resume RUN` takes it over.",
        )
    if facts["note"] and ":" in facts["note"]:
        return (
            f"The last worker could not take it up: {facts['note']}",
            "Mend that, then `outlast resume RUN`.",
        )
    if is_due and facts["workers"]:
        return (
            f"It is due and waits for a free worker ({len(facts['workers'])} are there).",
            "Wait, raise harness.max_concurrent_runs (or the bounds of user and task), or `outlast resume RUN` now.",
        )
    if is_due:
        return "It is due, and no worker takes it up.", "`outlast resume RUN`, or start `outlast worker`."
    return f"It is to be tried again at {facts['due_at']}.", "Wait, or `outlast resume RUN` now."


def _waiting(facts: dict[str, Any]) -> tuple[str, str]:
    if not facts["waits_for"]:
        note = facts["note"] if ":" in facts["note"] else ""
        why = (
            f"The last worker could not take it up: {note}"
            if note
            else "A person has decided what it waited for."
        )
        return (
            why,
            "Mend that, then `outlast resume RUN`."
            if note
            else "`outlast resume RUN`, or start `outlast worker`.",
        )
    if all(item.startswith("background task") for item in facts["waits_for"]):
        return (
            f"It waits for {', '.join(facts['waits_for'])}.",
            "See `outlast tasks list`; it goes on by itself under `outlast worker` or `outlast serve`.",
        )
    command = "approve" if any(item.startswith("approval") for item in facts["waits_for"]) else "answer"
    return (
        "It waits for a person.",
        f"`outlast {command} RUN`, then `outlast resume RUN` where no worker runs.",
    )


def _failed(facts: dict[str, Any]) -> tuple[str, str]:
    error = facts["error"] or {"code": "unknown", "detail": "", "next": ""}
    return f"It failed: {error['code']}: {error['detail']}", error[
        "next"
    ] or "`outlast resume RUN` tries again."


_BY_STATE: dict[str, Callable[[dict[str, Any]], tuple[str, str]]] = {
    "COMPLETED": lambda _: ("It is done.", "`outlast report RUN` prints its report."),
    "CANCELLED": lambda _: ("It was cancelled.", "`outlast run --from RUN` starts from what it found."),
    "FAILED": _failed,
    "PAUSED": lambda _: ("A person paused it.", "`outlast resume RUN` goes on."),
    "WAITING": _waiting,
}
