"""The seam to work that outlives the call that began it: how a task elsewhere is looked after once there is a handle to it.

A tool begins the work and returns a `Handle`. From then on any worker of any process may look after it with nothing but the
handle: drivers keep no state of their own. Remote ids and driver data are secrets; they are stored, sent back to the server they
came from, and shown nowhere (their `repr` leaves them out).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Literal, Protocol

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json


class RemoteStatus(StrEnum):
    """What the other side says of a task. A word it is not known to use counts as `working`."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handle:
    """A task that is looked after from now on; returned by a tool in place of a result.

    `driver` names the kind of driver, `server` the configured server (or the tool, for `local`), `principal` a digest of the
    identity it was begun under: another one may not touch it. Units: seconds; None where the server said nothing.
    """

    driver: str
    server: str
    principal: str
    protocol_version: str
    remote_id: str = field(repr=False)
    data: Mapping[str, Json] = field(default_factory=dict, repr=False)
    name: str = ""
    status_message: str = ""
    poll_after_seconds: float | None = None
    ttl_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What the other side asks while it works. `schema` is the JSON Schema of the answer of a `form`, `url` the address a
    person is to open; an `unsupported` kind can only be declined."""

    kind: Literal["form", "url", "unsupported"]
    message: str
    schema: Mapping[str, Json] = field(default_factory=dict)
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person answered. `content` fits the question's schema when the action is `accept`, and is empty otherwise."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Product:
    """What a task came to: a JSON value or a text, bounded by the driver, and the digests of its artifacts.

    `is_error` tells a result that reports a failure of the work itself. `contents` has the artifacts that are still to be kept, by
    their digests: whoever polled keeps them with the run that began the task.
    """

    data: Json
    is_error: bool = False
    artifacts: tuple[str, ...] = ()
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A task as the other side describes it. `product` comes with `completed`, `error` (a code and a text) with `failed`,
    `questions` by key with `input_required`. Texts are untrusted. Units: seconds."""

    status: RemoteStatus
    message: str = ""
    product: Product | None = None
    error_code: str | None = None
    error: str | None = None
    questions: Mapping[str, Question] = field(default_factory=dict)
    poll_after_seconds: float | None = None
    ttl_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The other side took the answer or the wish to cancel; what comes of it is seen by polling."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The other side says that it does not know the task. Said once it may be a deploy under way; the machine asks again."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """The other side could not be asked, or answered nonsense.

    `passing` trouble is tried again with growing waits. What is not passing needs an operator: `code` is stable, `detail` holds
    no secret, `next_step` says what to do. Units: seconds.
    """

    code: str
    detail: str
    next_step: str
    passing: bool = True
    retry_after_seconds: float | None = None


class BackgroundDriver(Protocol):
    """One way of looking after tasks on one server. Every method ends within its deadline, and never raises for what the other
    side does; `asyncio.CancelledError` alone passes through."""

    can_cancel: bool
    can_answer: bool

    async def poll(self, handle: Handle, deadline_seconds: float) -> Snapshot | Forgotten | Trouble:
        """How the task stands."""
        ...

    async def answer(
        self, handle: Handle, answers: Mapping[str, Answer], deadline_seconds: float
    ) -> Acknowledged | Forgotten | Trouble:
        """Send answers by the key of their question; sending one again is harmless."""
        ...

    async def cancel(self, handle: Handle, deadline_seconds: float) -> Acknowledged | Forgotten | Trouble:
        """Ask that the task be cancelled; asking again is harmless."""
        ...


class BackgroundDrivers(Protocol):
    """Finds the driver of a task."""

    async def driver_for(self, driver: str, server: str) -> BackgroundDriver | Trouble:
        """The driver of that kind for that server; Trouble when the server is not configured (any more) or cannot be built."""
        ...
