"""What must hold between the keys of a task, told with the path of the key to change."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from outlast.domain.states import ENDED, HELD, TRANSITIONS, State, may_follow
from outlast.wiring.settings.problem import listed, nearest
from outlast.wiring.settings.task_tree import Approval, TaskDocument

KeyPath = tuple[str, ...]
Finding = tuple[KeyPath, str]
"""The path of a key below `task`, and what is wrong with it."""

POINTS: Final = ("plan", "outline", "conclusions", "report")
"""The named points of a run at which approval can be asked for."""

HUMAN_APPROVAL: Final = "human_approval"
"""The hook that stands for an approval."""

_IMPLIED: Final = frozenset(HELD | ENDED)
_NO_WAY: Final = (
    "no path leads from INIT to COMPLETED through these states; "
    "add those in between, such as [INIT, PLANNING, EXECUTING, COMPLETED]"
)
_HOOK: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_HOOK_POINTS: Final = (
    "on_transition",
    "before_tool",
    "after_tool",
    *(f"on_enter_{state}" for state in State),
    *(f"on_exit_{state}" for state in State),
)


def findings(task: TaskDocument) -> Iterator[Finding]:
    """Everything about the task that cannot be right."""
    yield from _name(task)
    yield from _workflow(task)
    yield from _states(task.states)
    for index, approval in enumerate(task.approvals):
        yield from _approval(approval, ("approvals", str(index)), task.states)
    yield from _hooks(task)
    yield from _after(task)


def normal_transition(text: str) -> str:
    """`A->B` without the spaces people like to put around the arrow."""
    return "->".join(part.strip() for part in text.split("->"))


def _name(task: TaskDocument) -> Iterator[Finding]:
    if task.name and not re.fullmatch(r"[\w][\w .:-]{0,79}", task.name):
        yield (
            ("name",),
            "it must be 1 to 80 letters, digits, spaces and _ . : -, beginning with a letter or digit",
        )


def _workflow(task: TaskDocument) -> Iterator[Finding]:
    if task.workflow not in {"research", "chat"} and not _HOOK.fullmatch(task.workflow):
        near = nearest(task.workflow, ("research", "chat"))
        hint = f"; did you mean {near}?" if near else ""
        yield ("workflow",), f"it must be research, chat or package.module:function{hint}"


def _states(states: tuple[str, ...]) -> Iterator[Finding]:
    unknown = [(index, state) for index, state in enumerate(states) if state not in set(State)]
    for index, state in unknown:
        yield ("states", str(index)), _unknown_state(state)
    if states and not unknown and not _reaches_the_end(states):
        yield ("states",), _NO_WAY


def _unknown_state(state: str) -> str:
    near = nearest(state, State)
    return (
        f"there is no such state; did you mean {near}?"
        if near
        else f"there is no such state; there are {listed(list(State), 9)}"
    )


def _reaches_the_end(states: Collection[str]) -> bool:
    allowed = {State(state) for state in states}
    reached: set[State] = set()
    ahead = {State.INIT} & allowed
    while ahead:
        reached |= ahead
        ahead = {after for state in ahead for after in TRANSITIONS[state]} & allowed - reached - HELD
    return State.COMPLETED in reached


def _approval(approval: Approval, path: KeyPath, states: tuple[str, ...]) -> Iterator[Finding]:
    if (approval.on is None) == (approval.tool is None):
        yield path, "give either on or tool, and only one of them"
    elif approval.on is not None and approval.on not in POINTS:
        yield from _transition(approval.on, (*path, "on"), states, f", or one of {listed(POINTS)}")


def _transition(text: str, path: KeyPath, states: tuple[str, ...], also: str = "") -> Iterator[Finding]:
    source, arrow, target = normal_transition(text).partition("->")
    known = set(State)
    if not arrow or source not in known or target not in known:
        near = nearest(text, POINTS) if also and not arrow else None
        hint = f"; did you mean {near}?" if near else ""
        yield path, f"it must be a transition such as PLANNING->EXECUTING{also}{hint}"
    elif not may_follow(State(source), State(target)):
        after = listed([state for state in State if state in TRANSITIONS[State(source)]], 9)
        yield path, f"no run goes from {source} to {target}; from {source} it goes to {after or 'nowhere'}"
    elif states and not {source, target} <= {*states, *_IMPLIED}:
        yield path, "this transition never happens, because task.states leaves one of its states out"


def _hooks(task: TaskDocument) -> Iterator[Finding]:
    for point, hook in task.hooks.items():
        path = ("hooks", point)
        if "->" in point:
            yield from _transition(point, path, task.states)
        elif point not in _HOOK_POINTS:
            near = nearest(point, _HOOK_POINTS)
            yield (
                path,
                "there is no such point"
                + (
                    f"; did you mean {near}?"
                    if near
                    else "; there are on_enter_STATE, on_exit_STATE, on_transition, before_tool, after_tool and A->B"
                ),
            )
        if hook == HUMAN_APPROVAL and "->" not in point:
            yield path, "human_approval belongs to a transition such as PLANNING->EXECUTING"
        elif hook != HUMAN_APPROVAL and not _HOOK.fullmatch(hook):
            yield path, "it must be module:function" + (" or human_approval" if "->" in point else "")


def _after(task: TaskDocument) -> Iterator[Finding]:
    offered = task.tools
    if offered is None or any(":" in tool for tool in offered):
        return
    for tool, before in _named_tools(task.after):
        if tool not in offered:
            near = nearest(tool, offered)
            yield (
                ("after", before),
                f"{tool} is not among the task's tools" + (f"; did you mean {near}?" if near else ""),
            )


def _named_tools(after: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    for tool, needed in after.items():
        yield tool, tool
        yield from ((name, tool) for name in needed)
