"""The trace: every event of a run as one line that says what happened, in which step and state, at what cost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Any, Final

from outlast.domain.apply import apply, begin
from outlast.domain.dataclass import dataclass
from outlast.domain.events import (
    ApprovalAsked,
    BranchOpened,
    MemoryRecalled,
    ModelAnswered,
    ModelFailed,
    ModelRequested,
    RecallFailed,
    RecallRequested,
    Recorded,
    ShadowCompared,
    StateEntered,
    Told,
    ToolAnswered,
    ToolRequested,
    ToolUnsettled,
)
from outlast.domain.run import RunState
from outlast.journal.codec import to_plain
from outlast.journal.fold import unknown_run
from outlast.journal.history import read_history
from outlast.ports.run_rows import RunFilter, RunRow
from outlast.ports.store import Store
from outlast.runs.recall.showing import recalled_text
from outlast.service.periods import began_since

HIDDEN: Final = frozenset({"secret"})
"""Fields of events that no trace shows."""

PAGE: Final = 200
"""How many events are read at once where a run is followed."""


@dataclass(frozen=True, slots=True)
class _Spoken:
    branch: str
    role: str
    step: int


@dataclass(frozen=True, slots=True)
class _Asked:
    tool: str
    arguments: dict[str, Any]
    spoken: _Spoken


class Tracer:
    """Makes trace lines of a run's events, in order."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._state: RunState | None = None
        self._model_calls: dict[str, _Spoken] = {}
        self._tool_calls: dict[str, _Asked] = {}
        self._roles: dict[str, str] = {}

    @property
    def state(self) -> RunState | None:
        """The state after the last event."""
        return self._state

    def line(self, recorded: Recorded) -> dict[str, Any]:
        """The line of one more event."""
        self._state = begin(self._run_id, recorded) if self._state is None else apply(self._state, recorded)
        event = recorded.event
        line: dict[str, Any] = {
            "seq": recorded.position,
            "at": recorded.at.isoformat(),
            "kind": type(event).__name__,
            "state": str(self._state.state),
            "step": self._state.counters.steps or None,
            "subtask": None,
            "role": None,
            "tool": None,
            "arguments": None,
            "result": None,
            "error": None,
            "tokens": None,
            "cost_usd": None,
            "duration_ms": None,
        }
        line.update(self._told_of(recorded))
        line["data"] = {name: value for name, value in to_plain(event).items() if name not in HIDDEN}
        return line

    def _told_of(self, recorded: Recorded) -> dict[str, Any]:
        event = recorded.event
        match event:
            case BranchOpened(branch=branch, role=role):
                self._roles[branch] = role
                return self._of_branch(branch)
            case ModelRequested(call=call, branch=branch, role=role):
                self._model_calls[call] = _Spoken(branch, role, self._step())
                return self._of_branch(branch)
            case ModelAnswered() | ModelFailed():
                return self._of_model(event)
            case ToolRequested() | ToolUnsettled() | ToolAnswered() | ShadowCompared():
                return {**self._of_call(event.call), **_of_result(event)}
            case RecallRequested(branch=branch) | MemoryRecalled(branch=branch) | RecallFailed(branch=branch):
                return {**self._of_branch(branch), **_of_recall(event)}
            case ApprovalAsked(subject=subject) if subject.startswith("call:"):
                return self._of_call(subject.removeprefix("call:"))
            case Told(branch=branch, sender=sender):
                return {**self._of_branch(branch), "role": sender}
            case StateEntered(code=str() as code, detail=detail):
                return {"error": {"code": code, "detail": detail}}
            case _:
                return {}

    def _of_model(self, event: ModelAnswered | ModelFailed) -> dict[str, Any]:
        spoken = self._model_calls.pop(event.call, None)
        told: dict[str, Any] = self._of_branch(spoken.branch) if spoken else {}
        told["step"] = spoken.step if spoken else None
        if isinstance(event, ModelFailed):
            error = {"code": f"model_{event.fault}", "detail": event.detail}
            return {**told, "error": error, "tokens": event.spent_tokens, "duration_ms": event.duration_ms}
        for call in event.tool_calls:
            asked = spoken or _Spoken("", "", self._step())
            self._tool_calls[call.id] = _Asked(call.name, call.arguments, asked)
        unusable = {"code": "unusable_answer", "detail": event.problem} if event.problem else None
        spent = {"tokens": event.input_tokens + event.output_tokens, "cost_usd": event.cost_usd}
        return {
            **told,
            **spent,
            "result": event.text or None,
            "error": unusable,
            "duration_ms": event.duration_ms,
        }

    def _of_call(self, call: str) -> dict[str, Any]:
        asked = self._tool_calls.get(call)
        if asked is None:
            return {}
        told = self._of_branch(asked.spoken.branch)
        return {**told, "step": asked.spoken.step, "tool": asked.tool, "arguments": asked.arguments}

    def _of_branch(self, branch: str) -> dict[str, Any]:
        known = self._state.branches.get(branch) if self._state is not None else None
        return {
            "role": self._roles.get(branch),
            "subtask": known.subtask if known else branch.partition("/")[0] or None,
        }

    def _step(self) -> int:
        return self._state.counters.steps if self._state is not None else 0


def _of_result(event: ToolRequested | ToolUnsettled | ToolAnswered | ShadowCompared) -> dict[str, Any]:
    if isinstance(event, ShadowCompared):
        return {"result": event.result or None, "duration_ms": event.duration_ms}
    if not isinstance(event, ToolAnswered):
        return {}
    outcome = event.outcome
    error = to_plain(outcome.error) if outcome.error is not None else None
    told = {"result": outcome.shown, "error": error, "duration_ms": outcome.duration_ms}
    return {**told, "tokens": outcome.spent_tokens or None, "cost_usd": outcome.spent_usd or None}


def _of_recall(event: RecallRequested | MemoryRecalled | RecallFailed) -> dict[str, Any]:
    if isinstance(event, MemoryRecalled):
        result = recalled_text(event.entries) if event.entries else None
        return {"result": result, "duration_ms": event.duration_ms}
    if isinstance(event, RecallFailed):
        return {"error": {"code": event.code, "detail": event.detail}, "duration_ms": event.duration_ms}
    return {}


async def trace_run(store: Store, run_id: str) -> list[dict[str, Any]]:
    """The whole trace of a run. Raises NotFound (`unknown_run`)."""
    history = await read_history(store, run_id)
    if not history:
        raise unknown_run(run_id)
    return list(trace_of(run_id, history))


async def trace_task(
    store: Store, wanted: RunFilter, since: datetime
) -> AsyncIterator[tuple[RunRow, list[dict[str, Any]]]]:
    """The traces of the runs of a task that began since a time, the oldest of the newest `wanted.limit` first."""
    rows, _ = await began_since(store, wanted, since, wanted.limit)
    for row in reversed(rows):
        yield row, await trace_run(store, row.run_id)


async def trace_page(
    store: Store, run_id: str, after: int, limit: int
) -> tuple[list[dict[str, Any]], int | None]:
    """At most `limit` lines of the trace after a position, and the position to go on from, None at the end. Raises NotFound."""
    follower = Follower(store, run_id)
    found: list[dict[str, Any]] = []
    while lines := await follower.more():
        found += [line for line in lines if line["seq"] > after]
        if len(found) > limit:
            return found[:limit], found[limit - 1]["seq"]
    return found, None


def trace_of(run_id: str, history: Iterable[Recorded]) -> Iterable[dict[str, Any]]:
    """The trace lines of a history, from its first event."""
    tracer = Tracer(run_id)
    return [tracer.line(recorded) for recorded in history]


class Follower:
    """Reads the journal of a run as it grows, some events at a time, as trace lines."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self._tracer = Tracer(run_id)
        self._run_id = run_id
        self._position = 0

    async def more(self, limit: int = PAGE) -> list[dict[str, Any]]:
        """The lines that follow, at most `limit`; none when there are no more events yet. Raises NotFound (`unknown_run`)."""
        history = await read_history(self._store, self._run_id, after=self._position, limit=limit)
        if not history and not self._position:
            raise unknown_run(self._run_id)
        self._position += len(history)
        return [self._tracer.line(recorded) for recorded in history]

    @property
    def state(self) -> str | None:
        """The run's state after the last line."""
        return str(self._tracer.state.state) if self._tracer.state is not None else None

    @property
    def has_ended(self) -> bool:
        """Had the run ended, and had its worker left it, at the last line? Nothing follows unless somebody resumes it."""
        state = self._tracer.state
        return state is not None and state.has_ended and not state.is_claimed


async def follow_run(store: Store, run_id: str, poll_seconds: float = 5.0) -> AsyncIterator[dict[str, Any]]:
    """The trace of a run as it grows, until the run has ended. Raises NotFound (`unknown_run`)."""
    follower = Follower(store, run_id)
    watch = store.watch([run_id])
    try:
        while True:
            lines = await follower.more()
            for line in lines:
                yield line
            if not lines:
                if follower.has_ended:
                    return
                await watch.wait(poll_seconds)
    finally:
        watch.stop()
