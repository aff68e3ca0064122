"""Background tasks: lists of fields that are shown."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from outlast.domain.background import TaskStatus, Tracking
from outlast.domain.notification import Notification
from outlast.gateway.shapes.shape import Shape

Action = Literal["cancel", "answer", "redrive"]


class PublicTask(Shape):
    """A background task in public: these seven fields and no others. `actions` is what may be done about it now."""

    id: str
    name: str
    status: TaskStatus
    tracking: Tracking
    created_at: str
    updated_at: str
    actions: list[Action]


class TaskPreview(Shape):
    """The beginning of what a task came to; `is_error` where that is the failure of the work itself."""

    preview: str
    is_error: bool
    is_truncated: bool


class TaskError(Shape):
    """Why a task failed."""

    code: str
    detail: str


class AskedQuestion(Shape):
    """Something a task asks: a form of this JSON Schema, an address to open, or what can only be declined."""

    key: str
    kind: Literal["form", "url", "unsupported"]
    message: str
    schema_: dict[str, JsonValue] = Field(alias="schema")
    url: str | None


class NotificationState(Shape):
    """How far the conversation of a task was told of it."""

    state: Notification
    failures: int
    run_id: str | None


class TaskDetail(PublicTask):
    """A background task with what it came to or asks, and how far its conversation was told."""

    message: str
    result: TaskPreview | None
    error: TaskError | None
    questions: list[AskedQuestion]
    notification: NotificationState


class TaskPage(Shape):
    """Background tasks, newest first."""

    background_tasks: list[PublicTask]
