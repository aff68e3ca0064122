"""The keys of a task file, with their defaults, units and meanings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from outlast.domain.dataclass import dataclass
from outlast.wiring.settings.spec import required, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Where a person must agree: exactly one of `on` and `tool`."""

    on: str | None = setting(
        None,
        "A transition such as `PLANNING->EXECUTING`, or one of `plan`, `outline`, `conclusions`, `report`.",
    )
    tool: str | None = setting(None, "A tool whose every call must be approved.")
    expires_seconds: float | None = setting(
        None, "How long the question stays open; empty: for ever.", unit="seconds", at_least=1
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDocument:
    """What a run shall do, with which tools, within which limits."""

    name: str = required("The name the task is started by.")
    description: str = setting("", "What the task is for; models read it.", is_verbatim=True)
    workflow: str = setting("research", "`research`, `chat`, or `package.module:function`.")
    max_steps: int = setting(
        30, "Most steps of a run: a model call with the tool calls it asked for.", unit="steps", at_least=1
    )
    timeout_minutes: float | None = setting(
        None,
        "Longest working time of a run, waiting left out; 60 where `max_wall_time` is not given either.",
        unit="minutes",
        at_least=0.001,
    )
    max_wall_time: float | None = setting(
        None, "The same in seconds; the tighter of the two holds.", unit="seconds", at_least=0.05
    )
    max_tokens_total: int | None = setting(
        None, "Most tokens of all model calls together; empty: unlimited.", unit="tokens", at_least=1
    )
    max_cost: float | None = setting(
        None, "Most money all model calls together may cost; empty: unlimited.", unit="US dollars", at_least=0
    )
    max_replans: int = setting(2, "How often the plan may be made anew.", at_least=0)
    max_tool_calls: Mapping[str, int] = setting({}, "Most calls of single tools, by their names.")
    on_replan_limit: Literal["partial", "accept"] | None = setting(None, "As `harness.on_replan_limit`.")
    tools: tuple[str, ...] | None = setting(
        None,
        "The tools the task may use, `server:tool` or `server:*` for those of MCP servers; left out: the built-in ones of its "
        "workflow; `[]`: none.",
    )
    after: Mapping[str, tuple[str, ...]] = setting(
        {}, "For a tool, the tools that must have succeeded before it."
    )
    states: tuple[str, ...] = setting(
        (), "The states the run may be in, besides WAITING, PAUSED, FAILED and CANCELLED; empty: all."
    )
    approvals: tuple[Approval, ...] = setting((), "Where a person must agree.")
    hooks: Mapping[str, str] = setting(
        {},
        "Checks as `module:function`, at `on_enter_STATE`, `on_exit_STATE`, `on_transition`, `before_tool`, `after_tool` or a "
        "transition `A->B`; `human_approval` at a transition is an approval.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFile:
    """A file in `tasks/`."""

    task: TaskDocument = required("The task.")
