"""Definitions of tasks in the names that models are given to tools of servers."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from outlast.domain.errors import CallerMistake
from outlast.domain.task import ApprovalRule, TaskDefinition
from outlast.domain.tool_names import EVERY, listed_name, model_name, split_name

Names = Callable[[str], tuple[str, ...]]


def renamed(definition: TaskDefinition, offered: Mapping[str, Mapping[str, str]]) -> TaskDefinition:
    """The definition with `server:tool` and `server:*` exchanged for names for models, wherever tools are named.

    `offered` has, by server, the names for models by the server's own. Raises CallerMistake (`unknown_tool`) for a tool that the task
    is to use or to ask about and its server, which the task uses, does not have.
    """

    def names(written: str) -> tuple[str, ...]:
        split = split_name(written)
        if split is None:
            return (written,)
        server, tool = split
        return tuple(offered.get(server, {}).values()) if tool == EVERY else (model_name(server, tool),)

    approved = [rule.tool for rule in definition.approvals if rule.tool is not None]
    for written in (*definition.tools, *approved):
        _require(written, offered)
    limits = replace(
        definition.limits,
        tool_calls={
            name: bound for key, bound in definition.limits.tool_calls.items() for name in names(key)
        },
    )
    return replace(
        definition,
        tools=_all(names(written) for written in definition.tools),
        approvals=tuple(rule for approval in definition.approvals for rule in _approvals(approval, names)),
        after={
            name: _all(map(names, needed)) for key, needed in definition.after.items() for name in names(key)
        },
        limits=limits,
        roles={
            key: role if role.tools is None else replace(role, tools=_all(map(names, role.tools)))
            for key, role in definition.roles.items()
        },
    )


def _require(written: str, offered: Mapping[str, Mapping[str, str]]) -> None:
    split = split_name(written)
    if split is None or split[0] not in offered or split[1] == EVERY or split[1] in offered[split[0]]:
        return
    server, tool = split
    near = difflib.get_close_matches(tool, offered[server], n=1)
    guess = f" Did you mean {listed_name(server, near[0])}?" if near else ""
    raise CallerMistake(
        "unknown_tool",
        f"The MCP server {server} has no usable tool {tool}.{guess}",
        "`outlast tools list` shows every tool, and why one cannot be used.",
    )


def _all(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for group in groups for name in group))


def _approvals(rule: ApprovalRule, names: Names) -> list[ApprovalRule]:
    return [rule] if rule.tool is None else [replace(rule, tool=name) for name in names(rule.tool)]
