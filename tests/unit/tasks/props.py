"""Tasks, times and rules that tests begin with."""

from datetime import UTC, datetime, timedelta
from typing import Any

from outlast.domain.background import BackgroundTask, TaskStatus
from outlast.ports.background_driver import Forgotten, Product, Question, RemoteStatus, Snapshot, Trouble
from outlast.tasks.decide import decide
from outlast.tasks.happenings import Decided, Declined, Happening, Polled
from outlast.tasks.rules import Moment, TaskRules

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RULES = TaskRules()
QUESTION = Question("form", "Which colour?", {"type": "object", "properties": {"colour": {"type": "string"}}})


def at(seconds: float, chance: float = 0.5) -> Moment:
    """A moment some seconds after START."""
    return Moment(START + timedelta(seconds=seconds), chance)


def task(**changes: Any) -> BackgroundTask:
    """A task that works, with a handle."""
    given: dict[str, Any] = {
        "task_id": "k-1",
        "user_id": "ann",
        "thread_id": "t-1",
        "run_id": "r-1",
        "call_id": "c4-0",
        "name": "Render",
        "tool": "render",
        "created_at": START,
        "updated_at": START,
        "driver": "mcp",
        "server": "renderer",
        "principal": "p",
        "remote_id": "secret-remote",
        "status": TaskStatus.WORKING,
    }
    return BackgroundTask(**{**given, **changes})


def after(
    before: BackgroundTask, *happenings: Happening, rules: TaskRules = RULES, seconds: float = 1
) -> Decided:
    """What comes of several happenings, a second after one another; none may be declined."""
    decided = Decided(before)
    for number, happening in enumerate(happenings):
        found = decide(decided.task, happening, rules, at(seconds + number))
        assert not isinstance(found, Declined), found
        decided = found
    return decided


def working(**about: Any) -> Polled:
    """The other side says that it works."""
    return Polled(Snapshot(status=RemoteStatus.WORKING, **about))


def completed(data: Any = "done", **about: Any) -> Polled:
    """The other side has finished."""
    return Polled(Snapshot(status=RemoteStatus.COMPLETED, product=Product(data), **about))


def failed(code: str = "boom", error: str = "It broke.") -> Polled:
    """The other side has failed."""
    return Polled(Snapshot(status=RemoteStatus.FAILED, error_code=code, error=error))


def asking(sent: frozenset[str] = frozenset(), /, **questions: Question) -> Polled:
    """The other side asks."""
    return Polled(Snapshot(status=RemoteStatus.INPUT_REQUIRED, questions=questions), sent)


def trouble(text: str = "refused", *, passing: bool = True, retry_after: float | None = None) -> Polled:
    """The other side could not be asked."""
    return Polled(Trouble("unreachable", text, "Start it.", passing, retry_after))


FORGOTTEN = Polled(Forgotten())
