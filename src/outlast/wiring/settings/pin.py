"""Pins a run to what it starts with, and gives a worker those settings back.

Everything is resolved and recorded but secrets: of those only the reference is kept, and the worker that carries the run on
resolves it. A secret that was written out in the config is not recorded at all; the worker's own config has to hold one at the
same key.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, cast

from outlast.domain.door import Json
from outlast.domain.errors import CallerMistake
from outlast.domain.task import ApprovalRule, Limits, LoopSettings, RetrySettings, TaskDefinition
from outlast.domain.tool_names import may_be_of
from outlast.wiring.settings.document import Document
from outlast.wiring.settings.models import (
    ROLES,
    context_max_tokens,
    llm_of,
    require_complete,
    role_settings,
    search_of,
)
from outlast.wiring.settings.overrides import Override, applied
from outlast.wiring.settings.problem import Problem, mistake_of
from outlast.wiring.settings.reader import Reading
from outlast.wiring.settings.shadowed import prompts_in
from outlast.wiring.settings.task_files import Task
from outlast.wiring.settings.task_rules import HUMAN_APPROVAL, POINTS, normal_transition
from outlast.wiring.settings.task_tree import TaskDocument
from outlast.wiring.settings.text import Secret, Text
from outlast.wiring.settings.tree import Settings
from outlast.wiring.settings.walk import dumped, exchanged, secrets_by_key, texts_of

DEFAULT_TIMEOUT_SECONDS: Final = 3600.0
DEFAULT_TOOLS: Final[dict[str, tuple[str, ...]]] = {
    "research": ("web_search", "web_fetch", "summarize", "write_report"),
    "chat": ("web_search", "web_fetch", "summarize", "remember", "recall"),
}
"""The tools of a task that does not say which; a workflow that is not built in has none."""

_SEARCHES: Final = "web_search"
_PINNED: Final = (
    "llm",
    "harness",
    "sandbox",
    "roles",
    "search",
    "memory",
    "shadow",
    "background_tasks",
    "tools",
    "mcp_servers",
)
_OF_THE_PROCESS: Final = (
    "persistence",
    "lease_seconds",
    "max_concurrent_runs",
    "max_runs_per_user",
    "max_runs_per_task",
    "drain_seconds",
)
"""Keys of `harness` that belong to the worker, not to the run."""


def pin(settings: Settings, task: Task, environ: Mapping[str, str] | None = None) -> TaskDefinition:
    """Everything a run of `task` is bound to from now on.

    Raises CallerMistake: `missing_variable`, `missing_setting` or `unreadable_file`, naming the key.
    """
    environ = os.environ if environ is None else environ
    document, harness = task.document, settings.harness
    settings.require("llm", "harness", "roles", "search", "tools")
    tools = _tools(document)
    if _SEARCHES in tools:
        require_complete(search_of(settings), "search")
    return TaskDefinition(
        name=document.name,
        description=document.description,
        workflow=document.workflow,
        limits=_limits(document),
        tools=tools,
        states=document.states,
        approvals=tuple(_approvals(document)),
        hooks={
            normal_transition(point): hook for point, hook in document.hooks.items() if hook != HUMAN_APPROVAL
        },
        after=dict(document.after),
        roles={role: role_settings(settings, role, environ) for role in ROLES},
        loop=LoopSettings(window=harness.loop_detection.window, threshold=harness.loop_detection.threshold),
        retry=RetrySettings(**dataclasses.asdict(harness.retry)),
        max_concurrent_tools=harness.max_concurrent_tools,
        max_concurrent_subtasks=harness.max_concurrent_subtasks,
        isolation=harness.context.isolation,
        context_max_tokens=context_max_tokens(settings, environ),
        compression_threshold=harness.context.compression_threshold,
        recall_top_k=harness.context.recall_top_k if settings.memory.enabled else 0,
        is_remembered=settings.memory.enabled,
        on_replan_limit=document.on_replan_limit or harness.on_replan_limit,
        unknown_outcome=harness.unknown_outcome,
        home=str(task.home),
        settings=_record(settings, tools, environ),
    )


def pinned_settings(
    definition: TaskDefinition, own: Settings, overrides: Iterable[Override] = ()
) -> Settings:
    """The settings a run was pinned to, `overrides` over them, with the store, doors and written-out secrets of the worker's `own`.

    Texts are resolved for good, secrets are references still. Raises CallerMistake (`missing_secret`) naming the key where a
    secret was written out when the run began and `own` has none there, and `invalid_settings` for a record that this version
    cannot read.
    """
    record = dict(definition.settings)
    home = Path(str(record.pop("home", own.home)))
    document = Document(f"the settings of a run of {definition.name}", record)
    over = [override for override in overrides if override.path[0] != "task"]
    changed = applied(document, over)
    reading = Reading(changed, {}, is_resolved=True)
    settings: Settings = reading.whole()
    if reading.problems:
        raise mistake_of(reading.problems, _next_step(reading.problems, over))
    secrets = secrets_by_key(own)
    settings = exchanged(settings, lambda text: _own_secret(text, secrets))
    process = {name: getattr(own.harness, name) for name in _OF_THE_PROCESS}
    return dataclasses.replace(
        settings,
        harness=dataclasses.replace(settings.harness, **process),
        logging=own.logging,
        gateway=own.gateway,
        alerts=own.alerts,
        home=home,
        file=own.file,
    )


def _next_step(problems: Iterable[Problem], overrides: Iterable[Override]) -> str:
    """What to do about a record that cannot be read: the overrides may be wrong, or this version too old for it."""
    if {problem.place for problem in problems} <= {override.place for override in overrides}:
        return "Correct what was to be set; docs/reference/settings.md lists every key."
    return "Carry the run on with the version of outlast that started it."


def _limits(task: TaskDocument) -> Limits:
    minutes = None if task.timeout_minutes is None else task.timeout_minutes * 60
    given = [seconds for seconds in (minutes, task.max_wall_time) if seconds is not None]
    return Limits(
        max_steps=task.max_steps,
        max_wall_seconds=min(given, default=DEFAULT_TIMEOUT_SECONDS),
        max_tokens_total=task.max_tokens_total,
        max_cost_usd=task.max_cost,
        max_replans=task.max_replans,
        tool_calls=dict(task.max_tool_calls),
    )


def _tools(task: TaskDocument) -> tuple[str, ...]:
    return DEFAULT_TOOLS.get(task.workflow, ()) if task.tools is None else tuple(dict.fromkeys(task.tools))


def _approvals(task: TaskDocument) -> Iterator[ApprovalRule]:
    for approval in task.approvals:
        on = approval.on if approval.on is None or approval.on in POINTS else normal_transition(approval.on)
        yield ApprovalRule(on=on, tool=approval.tool, expires_seconds=approval.expires_seconds)
    asked = {normal_transition(approval.on) for approval in task.approvals if approval.on}
    for point, hook in task.hooks.items():
        if hook == HUMAN_APPROVAL and normal_transition(point) not in asked:
            yield ApprovalRule(on=normal_transition(point))


def _record(settings: Settings, tools: tuple[str, ...], environ: Mapping[str, str]) -> dict[str, Json]:
    servers = {
        name: server
        for name, server in settings.mcp_servers.items()
        if any(may_be_of(name, tool) for tool in tools)
    }
    settings = dataclasses.replace(settings, search=search_of(settings), mcp_servers=servers)
    used = {id(text) for text in _used_texts(settings, tools)}
    whole = dumped(settings, lambda text: _recorded(text, environ, is_used=id(text) in used))
    record = {name: _without_none(whole[name]) for name in _PINNED if whole[name] is not None}
    if isinstance(shadow := record.get("shadow"), dict):
        record["shadow"] = {**shadow, "variant": prompts_in(shadow.get("variant"), settings)}
    record["harness"] = {
        key: value
        for key, value in cast("dict[str, Json]", record["harness"]).items()
        if key not in _OF_THE_PROCESS
    }
    return {"home": str(settings.home), **record}


def _used_texts(settings: Settings, tools: tuple[str, ...]) -> Iterator[Text]:
    for role in ROLES:
        yield from texts_of(llm_of(settings, role))
    search = [settings.search] if _SEARCHES in tools else []
    for section in (*search, settings.tools, *settings.mcp_servers.values()):
        yield from texts_of(section)


def _recorded(text: Text, environ: Mapping[str, str], *, is_used: bool) -> Json:
    if isinstance(text, Secret):
        return {"reference": text.shown()} if is_used or text.is_reference else None
    if not is_used and text.missing(environ):
        return {"reference": text.shown()}
    return text.resolve(environ)


def _without_none(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return value


def _own_secret(text: Text, secrets: Mapping[str, Secret]) -> Text:
    if not isinstance(text, Secret) or text.is_reference:
        return text
    if text.key in secrets:
        return secrets[text.key]
    raise CallerMistake(
        "missing_secret",
        f"{text.key} was written out in the configuration the run started with, so it was not recorded; "
        "this configuration has none.",
        f"Set {text.key}, best as a reference such as ${{NAME}}.",
    )
