"""The forms in which models answer when an answer must be data: a plan, conclusions, a verdict, a summary."""

from __future__ import annotations

from typing import Final

from outlast.domain.door import Json
from outlast.domain.plan import MAX_SUBTASKS, MIN_SUBTASKS, Conclusion, Subtask

_TEXTS: Final[dict[str, Json]] = {"type": "array", "items": {"type": "string"}}

PLAN: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "subtasks": {
            "type": "array",
            "minItems": MIN_SUBTASKS,
            "maxItems": MAX_SUBTASKS,
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,20}$"},
                    "question": {"type": "string", "minLength": 1},
                    "done_when": {"type": "string"},
                    "depends_on": _TEXTS,
                },
                "required": ["id", "question"],
            },
        }
    },
    "required": ["subtasks"],
}

CONCLUSIONS: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "conclusions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "claim": {"type": "string", "minLength": 1},
                    "sources": _TEXTS,
                    "quote": {"type": "string"},
                    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                },
                "required": ["claim", "sources"],
            },
        },
        "open_questions": _TEXTS,
    },
    "required": ["conclusions"],
}

VERDICT: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["accept", "revise", "replan"]},
        "reasons": _TEXTS,
    },
    "required": ["verdict"],
}

SUMMARY: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "goal": {"type": "string"},
        "decisions": _TEXTS,
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "claim": {"type": "string", "minLength": 1},
                    "sources": _TEXTS,
                    "quote": {"type": "string"},
                },
                "required": ["claim"],
            },
        },
        "open_questions": _TEXTS,
        "artifacts": _TEXTS,
    },
    "required": ["goal", "decisions", "facts"],
}

FORMS: Final[dict[str, dict[str, Json]]] = {
    "plan": PLAN,
    "conclusions": CONCLUSIONS,
    "verdict": VERDICT,
    "summary": SUMMARY,
}
"""Every form by name."""


def subtasks_in(value: Json) -> tuple[Subtask, ...]:
    """The subtasks of an answer that fits the form of a plan."""
    listed = _object(value).get("subtasks")
    return tuple(
        Subtask(
            str(item["id"]),
            str(item["question"]).strip(),
            str(item.get("done_when", "")),
            tuple(str(name) for name in _list(item.get("depends_on"))),
        )
        for item in map(_object, _list(listed))
    )


def conclusions_in(value: Json, subtask: str) -> tuple[Conclusion, ...]:
    """The conclusions of an answer that fits the form of conclusions, as the engine has checked it."""
    return tuple(
        Conclusion(
            f"{subtask}.{index}",
            str(item["claim"]).strip(),
            tuple(str(name) for name in _list(item.get("sources"))),
            str(item.get("quote", "")),
            _number(item.get("confidence"), 0.5),
            item.get("is_supported") is True,
        )
        for index, item in enumerate(map(_object, _list(_object(value).get("conclusions"))), start=1)
    )


def open_questions_in(value: Json) -> tuple[str, ...]:
    """The questions an answer leaves open."""
    return texts_in(value, "open_questions")


def texts_in(value: Json, name: str) -> tuple[str, ...]:
    """The texts listed under `name`."""
    return tuple(str(item) for item in _list(_object(value).get(name)))


def text_in(value: Json, name: str) -> str:
    """The text under `name`, empty when there is none."""
    found = _object(value).get(name)
    return found if isinstance(found, str) else ""


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _number(value: Json, default: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default
