"""Pins what is pinned already under other values: a fork, or the variant of a shadow."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path

from outlast.domain.door import Json
from outlast.domain.task import ApprovalRule, TaskDefinition
from outlast.wiring.settings.document import Document
from outlast.wiring.settings.overrides import Override
from outlast.wiring.settings.pin import pin, pinned_settings
from outlast.wiring.settings.problem import mistake_of
from outlast.wiring.settings.task_files import Task, read_task
from outlast.wiring.settings.tree import Settings


def repinned(
    definition: TaskDefinition, own: Settings, overrides: Iterable[Override], environ: Mapping[str, str]
) -> TaskDefinition:
    """The definition with `overrides` over it, checked like any other. Raises CallerMistake (`invalid_task`, `invalid_settings`)."""
    changes = tuple(overrides)
    return pinned_under(definition, pinned_settings(definition, own, changes), environ, changes)


def pinned_under(
    definition: TaskDefinition,
    settings: Settings,
    environ: Mapping[str, str],
    changes: Iterable[Override] = (),
) -> TaskDefinition:
    """The definition under other settings, with `changes` over the keys of its task. Raises CallerMistake as `pin` does."""
    document = Document(f"the task {definition.name}", {"task": _as_document(definition)})
    task, problems = read_task(document, environ, changes)
    if problems:
        raise mistake_of(problems, "Correct the values that were set.")
    pinned = pin(settings, Task(task, Path(definition.home)), environ)
    return dataclasses.replace(pinned, home=definition.home)


def _as_document(definition: TaskDefinition) -> dict[str, Json]:
    """A definition in the words of a task file."""
    limits = definition.limits
    document: dict[str, Json] = {
        "name": definition.name,
        "description": definition.description,
        "workflow": definition.workflow,
        "max_steps": limits.max_steps,
        "max_wall_time": limits.max_wall_seconds,
        "max_replans": limits.max_replans,
        "tools": [*definition.tools],
        "states": [*definition.states],
        "approvals": [_approval(rule) for rule in definition.approvals],
        "hooks": dict(definition.hooks),
        "after": {name: [*needed] for name, needed in definition.after.items()},
        "max_tool_calls": dict(limits.tool_calls),
        "on_replan_limit": definition.on_replan_limit,
        "max_tokens_total": limits.max_tokens_total,
        "max_cost": limits.max_cost_usd,
    }
    return {name: value for name, value in document.items() if value is not None}


def _approval(rule: ApprovalRule) -> Json:
    document: dict[str, Json] = {"on": rule.on, "tool": rule.tool, "expires_seconds": rule.expires_seconds}
    return {name: value for name, value in document.items() if value is not None}
