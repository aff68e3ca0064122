"""A tool call: what a model asked for, what kind of effect it has, what came back."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.quick import quick
from outlast.domain.source import Fetched, Found


class Effect(StrEnum):
    """What happens to the world when a tool runs; it decides what may be done after a crash.

    `READ` changes nothing and may be repeated. `IDEMPOTENT` may be repeated with the same idempotency key. `ONCE` is never
    repeated without a person: an interrupted call has an unknown outcome.
    """

    READ = "read"
    IDEMPOTENT = "idempotent"
    ONCE = "once"


@quick
@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call a model asked for.

    `arguments` is always a JSON object. When what the model sent could not be read as one, `problem` says why and `raw` keeps
    what it sent; such a call is answered with an error and never runs.
    """

    id: str
    name: str
    arguments: dict[str, Json] = field(default_factory=dict)
    problem: str | None = None
    raw: str | None = None


@quick
@dataclass(frozen=True, slots=True)
class ToolError:
    """Why a call gave no result, in a form a model can act on.

    `code` is one of `invalid_arguments`, `unknown_tool`, `too_early`, `tool_failed`, `invalid_output`, `timeout`, `rejected`,
    `expired`, `vetoed`, `limit_reached`, `outcome_unknown`, `cancelled`. `problems` names each field: what was expected and what
    came; `example` is a valid set of arguments.
    """

    code: str
    detail: str
    problems: tuple[str, ...] = ()
    example: dict[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """A background task that a call began: its local id and its name in its thread."""

    id: str
    name: str


@quick
@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call came to, as the journal keeps it.

    `shown` is the text the model sees, bounded and clean; the full output, when longer, is the artifact with digest
    `artifact` of `size_bytes`. `note` is what the engine adds for the model, outside the fence. `found` and `fetched` feed
    the ledger of sources. `spent_tokens` and `spent_usd` are what model calls made by the tool itself used up. `repairs`
    names what was replaced at the door. `task` is the background task that goes on.
    """

    ok: bool
    shown: str
    error: ToolError | None = None
    artifact: str | None = None
    size_bytes: int = 0
    found: tuple[Found, ...] = ()
    fetched: tuple[Fetched, ...] = ()
    duration_ms: int = 0
    attempts: int = 1
    note: str = ""
    cached_from: str | None = None
    spent_tokens: int = 0
    spent_usd: float = 0.0
    repairs: tuple[str, ...] = ()
    task: Begun | None = None
