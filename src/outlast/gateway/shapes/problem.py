"""A problem, as every refusal tells it."""

from __future__ import annotations

from typing import Any, Final

from outlast.gateway.shapes.shape import Shape


class Problem(Shape):
    """What went wrong (RFC 9457). `code` never changes its meaning; `next` says what to do."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    next: str


PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {
        "description": "The request cannot be carried out as it stands.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    },
    "5XX": {
        "description": "The server cannot carry it out now.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    },
}
"""The responses every route may give instead of its own."""
