"""What the outside may see of a background task: lists of fields that are shown, never of fields that are hidden.

Remote ids, driver data, servers, principals, keys and arguments are in none of them. Texts of the other side are shown to models
only with everything taken out that looks like a fence or like the tags in which models are given their roles.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from outlast.domain.background import BackgroundTask, TaskQuestion, Tracking
from outlast.domain.door import Json, clean_text
from outlast.domain.notification import Notification

MOST_SHOWN: Final = 20
"""How many tasks a context is shown, the newest."""

_MESSAGE: Final = 500
_NAME: Final = re.compile(r"[^\w.-]+")
_TAG: Final = re.compile(
    r"<(?=[\s/|]*(?:system|user|assistant|developer|tool|human|instruction|untrusted|end|im_|eot|start_|bos|eos))",
    re.IGNORECASE,
)


def safe_name(wanted: str) -> str:
    """A name for a task: letters, digits and `_ . -`, at most 40; never anything a model could take for more than a name."""
    return _NAME.sub("-", clean_text(wanted)).strip("-.")[:40].rstrip("-.") or "task"


def neutral(text: str, most: int | None = None) -> str:
    """A text of the other side as a model may be shown it, inside a fence: fences and role tags in it are none any more."""
    text = clean_text(text).replace("<<", "\u2039\u2039").replace(">>", "\u203a\u203a")
    text = _TAG.sub("\u2039", text)
    return text if most is None or len(text) <= most else text[:most] + " [...]"


def public_task(task: BackgroundTask) -> dict[str, Any]:
    """A task in seven fields."""
    return {
        "id": task.task_id,
        "name": task.name,
        "status": task.status.value,
        "tracking": task.tracking.value,
        "created_at": task.created_at.isoformat(),
        "updated_at": task.updated_at.isoformat(),
        "actions": actions_of(task),
    }


def task_detail(task: BackgroundTask) -> dict[str, Any]:
    """A task with what it came to or asks, and how far its conversation was told."""
    product = task.product
    return {
        **public_task(task),
        "message": task.status_message,
        "result": None
        if product is None
        else {"preview": product.preview, "is_error": product.is_error, "is_truncated": product.is_truncated},
        "error": None if task.error_code is None else {"code": task.error_code, "detail": task.error or ""},
        "questions": [_asked(key, question) for key, question in task.open_questions.items()],
        "notification": {
            "state": task.notification.value,
            "failures": task.notification_failures,
            "run_id": task.notification_run_id,
        },
    }


def glimpse(task: BackgroundTask) -> dict[str, Json]:
    """A task in the four fields a context is shown."""
    return {
        "id": task.task_id,
        "name": task.name,
        "status": task.status.value,
        "updated_at": task.updated_at.isoformat(timespec="seconds"),
    }


def as_list(tasks: Sequence[BackgroundTask]) -> str:
    """Tasks as a context is shown them, one a line."""
    return "\n".join(json.dumps(glimpse(task), ensure_ascii=False) for task in tasks[:MOST_SHOWN])


def stands_as(listed: str) -> list[tuple[str, str]]:
    """How tasks stood in such a list, whenever that was."""
    lines = [json.loads(line) for line in listed.splitlines()]
    return [(line["id"], line["status"]) for line in lines]


def told_to_agent(task: BackgroundTask) -> dict[str, Json]:
    """A task as the agent of its conversation is told of it."""
    told: dict[str, Json] = {"id": task.task_id, "name": task.name, "status": task.status.value}
    if task.tracking is not Tracking.OK:
        told["tracking"] = task.tracking.value
    if task.status_message:
        told["message"] = neutral(task.status_message, _MESSAGE)
    if task.is_withheld:
        why = "it has not been checked yet" if task.veto is None else f"a check refused it: {task.veto}"
        told["withheld"] = neutral(f"What it came to is not shown, since {why}.", _MESSAGE)
        return told
    if task.product is not None:
        told["result"] = neutral(task.product.preview)
        told["is_error"] = task.product.is_error
        told["is_whole"] = task.product.size_bytes <= len(task.product.preview.encode())
    if task.error_code is not None:
        told["error"] = neutral(f"{task.error_code}: {task.error or ''}", _MESSAGE)
    asked: list[Json] = [neutral(question.message, _MESSAGE) for question in task.open_questions.values()]
    if asked:
        told["asks"] = asked
    return told


def actions_of(task: BackgroundTask) -> list[str]:
    """What a person may do about a task now."""
    may = {
        "cancel": task.is_open and task.cancel_requested_at is None,
        "answer": bool(task.open_questions),
        "redrive": task.notification is Notification.DEAD_LETTER and not task.is_thread_gone,
    }
    return [name for name, is_possible in may.items() if is_possible]


def _asked(key: str, question: TaskQuestion) -> dict[str, Any]:
    return {
        "key": key,
        "kind": question.kind,
        "message": question.message,
        "schema": question.schema,
        "url": question.url,
    }
