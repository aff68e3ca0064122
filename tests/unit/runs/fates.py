"""What calls come to in the simulation: every answer a model, a tool or a hook may give, good and bad, drawn by luck."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from outlast.domain.door import Json
from outlast.domain.events import (
    AnyEvent,
    HookRan,
    HookRequested,
    MemoryRecalled,
    ModelAnswered,
    ModelFailed,
    ModelRequested,
    QuestionAsked,
    RecallFailed,
    RecallRequested,
    ReportWritten,
    ToolAnswered,
    ToolRequested,
)
from outlast.domain.recalled import Recalled
from outlast.domain.report import Report
from outlast.domain.tool_call import ToolCall, ToolError, ToolOutcome
from outlast.runs.moves import shown_error
from tests.unit.runs.troupe import Luck, Troupe

GOOD: Luck = lambda what, bound: 0  # noqa: E731 - a law of luck, not a function of its own
"""The best that can happen."""


def fate_of(troupe: Troupe, name: str, luck: Luck) -> list[Any]:
    """The events a call in flight ends with."""
    started = troupe.in_flight[name]
    intent = started.intent
    if isinstance(intent, ModelRequested):
        return _of_model(troupe, intent, getattr(started.command, "form", None), luck)
    if isinstance(intent, ToolRequested):
        return _of_tool(troupe, intent, luck)
    if isinstance(intent, RecallRequested):
        return [_of_memory(intent, luck)]
    assert isinstance(intent, HookRequested)
    veto = "no" if luck("hook", 4) == 3 else None
    return [HookRan(intent.hook, intent.point, intent.subject, veto)]


def _of_memory(intent: RecallRequested, luck: Luck) -> AnyEvent:
    kind = luck("memory", 5)
    if kind == 4:
        return RecallFailed(intent.recall, intent.branch, "recall_slow", "it took too long")
    text = f"{luck('remembered', 3)} is so"
    entry = Recalled(id="m-1", tier="long_term", kind="fact", text=text, source="ann", known_at="2026-01-01")
    return MemoryRecalled(intent.recall, intent.branch, intent.query, (entry,) if kind < 3 else ())


def _of_model(troupe: Troupe, intent: ModelRequested, form: str | None, luck: Luck) -> list[Any]:
    kind = luck("model", 10)
    if kind == 7:
        retry_at = troupe.now + timedelta(seconds=luck("retry", 3)) if luck("passes", 3) < 2 else None
        return [ModelFailed(call=intent.call, fault="overload", detail="", retry_at=retry_at, spent_tokens=1)]
    wants_report = intent.purpose == "report" and troupe.state.branches[intent.branch].steps == 1
    if intent.with_tools and (wants_report or kind in (4, 5, 8, 9)):
        return _asking(troupe, intent, ["write_report"] if wants_report else None, luck)
    if kind == 6 and form is not None:
        return [_answer(intent, text="?", problem="it is not JSON")]
    text = "so it is " * (1, 1, 1, 120)[luck("words", 4)]
    return [_answer(intent, text=text, value=_value(form, luck))]


def _asking(troupe: Troupe, intent: ModelRequested, wanted: list[str] | None, luck: Luck) -> list[Any]:
    names = wanted or [_tool(luck) for _ in range(1 + luck("calls", 3))]
    calls = tuple(
        ToolCall(f"c{intent.call[1:]}-{index}", name, {"what": luck("what", 2)})
        for index, name in enumerate(names)
    )
    refused = [_refused(call) for call in calls if call.name == "broken"]
    return [_answer(intent, tool_calls=calls, finish="tool_calls"), *refused]


def _tool(luck: Luck) -> str:
    return ("look", "note", "pay", "gate", "nothing", "broken")[luck("tool", 6)]


def _refused(call: ToolCall) -> ToolAnswered:
    error = ToolError("invalid_arguments", "not so")
    return ToolAnswered(call.id, ToolOutcome(False, shown_error(error), error), "engine")


def _answer(intent: ModelRequested, **fields: Any) -> ModelAnswered:
    return ModelAnswered(call=intent.call, **{"text": "", "input_tokens": 5, "output_tokens": 3, **fields})


def _value(form: str | None, luck: Luck) -> Json:
    if form == "plan":
        return {"subtasks": [{"id": f"s{n}", "question": f"q{luck('question', 2)}{n}"} for n in (1, 2, 3)]}
    if form == "conclusions":
        found: Json = {"claim": "so", "sources": [], "quote": "", "confidence": 0.5, "is_supported": True}
        return {"conclusions": [found] if luck("found", 4) < 3 else [], "open_questions": []}
    if form == "summary":
        facts: Json = [{"claim": f"fact {luck('fact', 9)}", "sources": []}]
        return {"goal": "to know", "decisions": ["looked"] * luck("length", 4), "facts": facts}
    if form == "verdict":
        return {"verdict": ("accept", "revise", "replan")[luck("verdict", 3)], "reasons": ["so"]}
    return None


def _of_tool(troupe: Troupe, intent: ToolRequested, luck: Luck) -> list[Any]:
    call = troupe.state.calls[intent.call].call
    kind = luck("outcome", 5)
    if kind == 4:
        return [QuestionAsked(f"q-{call.id}-{intent.attempt}", "What?", call.id)]
    if kind == 3:
        error = ToolError("tool_failed", "it failed")
        return [ToolAnswered(call.id, ToolOutcome(False, shown_error(error), error))]
    shown = f"seen {luck('seen', 3)}\n" * (1, 1, 120)[luck("length", 3)]
    answered = ToolAnswered(call.id, ToolOutcome(True, shown))
    if call.name == "write_report":
        report = Report("T", "What is there?", "", (), ())
        return [ReportWritten(report, by="writer", digest=str(troupe.state.position)), answered]
    return [answered]
