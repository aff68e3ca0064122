"""The words workflows are written in: small functions that return commands."""

from __future__ import annotations

import json
from collections.abc import Iterable

from outlast.domain.commands import Record
from outlast.domain.door import Json, stored_form
from outlast.domain.events import BranchOpened, QuestionAsked, StateEntered, Told, ToolAnswered, ValueSet
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.domain.tool_call import ToolError, ToolOutcome


def enter(state: RunState, target: State, reason: str = "", outcome: str | None = None) -> Record:
    """Go to another state. Hooks and approvals that guard the transition are seen to by the engine."""
    return Record(StateEntered(state.state, target, reason, outcome))


def fail(state: RunState, code: str, detail: str, next_step: str) -> Record:
    """End the run as failed; it can be resumed from where it stands."""
    return Record(
        StateEntered(state.state, State.FAILED, code, code=code, detail=detail, next_step=next_step)
    )


def open_branch(
    name: str,
    role: str,
    *,
    system: str,
    opening: str,
    purpose: str = "chat",
    tools: Iterable[str] = (),
    subtask: str | None = None,
    schema: dict[str, Json] | None = None,
    material: str = "",
    material_from: str = "",
    shows_report: bool = False,
) -> Record:
    """Begin a conversation with the model of a role. `material` is untrusted and is fenced; it may be the run's report."""
    return Record(
        BranchOpened(
            branch=name,
            role=role,
            purpose=purpose,
            system=system,
            opening=opening,
            material=material,
            material_from=material_from,
            shows_report=shows_report,
            tools=tuple(tools),
            subtask=subtask,
            schema=schema,
        )
    )


def tell(branch: str, body: str, *, sender: str = "engine", kind: str = "note", material: str = "") -> Record:
    """Say something into a branch; its model is then asked again."""
    return Record(Told(branch, sender, kind, body, material))


def ask_person(state: RunState, name: str, text: str, choices: Iterable[str] = ()) -> Record:
    """Ask a person; the answer is found in `state.questions[name].answer`."""
    return Record(QuestionAsked(name, text, None, tuple(choices)))


def set_value(name: str, value: object) -> Record:
    """Keep a value of the workflow's own in `state.values`. Raises ModelMistake (`not_storable`) for what JSON cannot hold."""
    return Record(ValueSet(name, stored_form(value)))


def settle(call: str, code: str, detail: str, by: str, problems: Iterable[str] = ()) -> Record:
    """Answer a tool call with an error, without running it."""
    error = ToolError(code, detail, tuple(problems))
    return Record(ToolAnswered(call, ToolOutcome(False, shown_error(error), error), by))


def shown_error(error: ToolError) -> str:
    """An error as the model sees it: one JSON object."""
    from_error: dict[str, Json] = {"code": error.code, "detail": error.detail}
    if error.problems:
        from_error["problems"] = list(error.problems)
    if error.example is not None:
        from_error["valid_example"] = error.example
    return _as_json({"error": from_error})


def _as_json(value: dict[str, Json]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
