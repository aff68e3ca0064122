"""The definition of a task: what to do, with which tools, within which limits. A run is pinned to the one it started with."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from outlast.domain.by_identity import by_identity
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.quick import quick


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The bounds of a run, in one object. None means unlimited.

    A step is one model call with the tool calls it asked for. `max_wall_seconds` counts working states under a lease, not waiting,
    pauses or time without a worker. `tool_calls` bounds single tools by name.
    """

    max_steps: int = 30
    max_wall_seconds: float = 3600.0
    max_tokens_total: int | None = None
    max_cost_usd: float | None = None
    max_replans: int = 2
    tool_calls: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRule:
    """Where a person must agree: exactly one of `on` (a transition `A->B`, or `plan`, `outline`, `conclusions`, `report`) and `tool`.

    `expires_seconds` bounds how long a ticket stays open (None: for ever).
    """

    on: str | None = None
    tool: str | None = None
    expires_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens cost, in US dollars."""

    input_usd: float
    output_usd: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What that many tokens cost, in US dollars."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / 1_000_000


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """A model as it is asked: its name, temperature, the most tokens an answer may have, and its price where it is known."""

    model: str
    temperature: float = 0.3
    max_tokens: int | None = None
    price: Price | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSettings:
    """How a role works: its model with temperature, most tokens an answer may have and price, prompt, and tools (None: the task's).

    `fallbacks` are asked, in order, when the model before cannot be used.
    """

    model: str
    temperature: float = 0.3
    max_tokens: int | None = None
    prompt: str | None = None
    tools: tuple[str, ...] | None = None
    price: Price | None = None
    fallbacks: tuple[ModelSettings, ...] = ()

    def option(self, number: int) -> ModelSettings:
        """The model asked first (0), or the fallback of that number; the last one there is when there are fewer."""
        if number <= 0 or not self.fallbacks:
            return _first_of(self)
        return self.fallbacks[min(number, len(self.fallbacks)) - 1]


def _first(role: RoleSettings) -> ModelSettings:
    return ModelSettings(
        model=role.model, temperature=role.temperature, max_tokens=role.max_tokens, price=role.price
    )


_first_of: Final = by_identity(_first, 256)
"""The model a role asks first, made once for a role: it is asked for several times at every step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings:
    """When repetition counts as a loop: within the last `window` calls of a branch, at `threshold` repeats."""

    window: int = 20
    threshold: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySettings:
    """How often something is tried in all, and how waits grow: `exponential`, `fixed` or `none`, from `base_seconds`."""

    max_attempts: int = 3
    backoff: str = "exponential"
    base_seconds: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDefinition:
    """Everything a run is pinned to, secrets left out.

    `workflow` is `research`, `chat` or `package.module:function`. `states` narrows the machine (empty: all states).
    `tools` is an allow-list; `after` says for a tool which tools must have succeeded before it. `hooks` maps a point
    (`on_enter_S`, `on_exit_S`, `on_transition`, `before_tool`, `after_tool`, `A->B`) to `module:function`.
    `recall_top_k` is how many entries of memory one recall brings back; 0: memory is not asked.
    `is_remembered` says that long-term memory takes in what the run finds.
    `unknown_outcome` is `ask` (a person) or `error` (to the model). `home` is the directory that relative paths start
    from; `settings` holds other resolved settings that adapters were built from, for the record.
    """

    name: str
    description: str = ""
    workflow: str = "research"
    limits: Limits = field(default_factory=Limits)
    tools: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    approvals: tuple[ApprovalRule, ...] = ()
    hooks: dict[str, str] = field(default_factory=dict)
    after: dict[str, tuple[str, ...]] = field(default_factory=dict)
    roles: dict[str, RoleSettings] = field(default_factory=dict)
    loop: LoopSettings = field(default_factory=LoopSettings)
    retry: RetrySettings = field(default_factory=RetrySettings)
    max_concurrent_tools: int = 3
    max_concurrent_subtasks: int = 3
    isolation: str = "per_subtask"
    context_max_tokens: int = 24000
    compression_threshold: int = 20
    recall_top_k: int = 0
    is_remembered: bool = False
    on_replan_limit: str = "partial"
    unknown_outcome: str = "ask"
    home: str = "."
    settings: dict[str, Json] = field(default_factory=dict)

    def role(self, name: str) -> RoleSettings:
        """How a role works; a role that is not configured, as in a user's own workflow, works like the executor."""
        return self.roles.get(name) or self.roles.get("executor") or RoleSettings(model="")
