"""What can be seen of the server itself."""

from __future__ import annotations

from typing import Literal

from outlast.domain.access import Scope
from outlast.gateway.shapes.shape import Shape


class ListedTool(Shape):
    """A tool a task may name. `effect` is null where the tool declares none, or where only importing it would tell."""

    name: str
    effect: str | None
    origin: str
    replaces_built_in: bool


class ToolList(Shape):
    """Every tool there is."""

    tools: list[ListedTool]


class ListedTask(Shape):
    """A task that runs can be started of; `problem` says why it cannot be used as it stands."""

    name: str
    description: str
    workflow: str
    problem: str | None


class TaskList(Shape):
    """Every task there is."""

    tasks: list[ListedTask]


class SessionDocument(Shape):
    """Who a browser is here. `must_sign_in` is false where nobody need say who they are."""

    user: str | None
    scopes: list[Scope]
    is_signed_in: bool
    must_sign_in: bool


class Health(Shape):
    """The process is there."""

    status: Literal["ok"]


class Readiness(Shape):
    """Whether requests are served: is the store reachable, how many workers are at work here, is the server closing?"""

    status: Literal["ready", "not ready"]
    store: Literal["reachable", "unreachable"]
    workers: int
    workers_wanted: int
    closing: bool
