"""Performing a tool call: once, or as often as its effect and settings allow; bounded in time and output; never raising."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Final

from outlast.domain.bounded import bound
from outlast.domain.door import Json, apart, clean_text, stored_form
from outlast.domain.errors import ModelMistake, OutlastError, Passing
from outlast.domain.events import (
    AnyEvent,
    HookRan,
    PinnedTool,
    QuestionAsked,
    ReportWritten,
    ToolAnswered,
    ToolUnsettled,
)
from outlast.domain.hooks import AFTER_TOOL, BEFORE_TOOL
from outlast.domain.quick import changed, quick
from outlast.domain.run import Call, RunState
from outlast.domain.source import Fetched, Found
from outlast.domain.task import RetrySettings
from outlast.domain.tool_call import Effect, ToolError, ToolOutcome
from outlast.ports.background_driver import Handle
from outlast.ports.batch import Item
from outlast.ports.tool import Ask, Draft, ReadSource, Tool, ToolContext, ToolResult
from outlast.runs.background import LOCAL, begun_in_background, local_handle
from outlast.runs.contained import Escaped, contained
from outlast.runs.desk import Desk, Outcome
from outlast.runs.drafts import report_event
from outlast.runs.hooks import call_hook
from outlast.runs.money import Spending
from outlast.runs.moves import shown_error
from outlast.runs.perform_model import backoff_seconds
from outlast.runs.tool_context import context_for

Returned = ToolResult | Ask | Draft | Handle | ToolError
"""What a try of a call came to."""

GRACE_SECONDS: Final = 2.0
"""How long a tool may take to stop by itself after its time is up, before the engine cancels it."""


_TOLD_APART: Final = frozenset({"timeout", "outcome_unknown"})
"""Codes of errors raised by tools that keep their meaning; every other error means that the tool failed."""


@quick
@dataclass(frozen=True, slots=True)
class _Tried:
    """What one or more tries of a call came to."""

    result: Returned
    attempts: int


async def perform_tool(desk: Desk, state: RunState, call: Call, edited: dict[str, Json] | None) -> Outcome:
    """Run a call and turn what comes into events. Trouble of every kind becomes a structured error for the model."""
    started = desk.seconds()
    name = call.call.name
    pinned, tool = state.tools[name], desk.means.tools.get(name)
    arguments = call.call.arguments if edited is None else edited
    hooks: list[AnyEvent] = []
    spending = desk.spending_of(call.call.id)
    refusal = await _before(desk, state, call, pinned, arguments, hooks)
    if refusal is not None or tool is None:
        refusal = refusal or ToolError("unknown_tool", f"The tool {name} is not there any more.")
        return Outcome([*hooks, _answer(call, ToolOutcome(False, shown_error(refusal), refusal))])
    if pinned.effect is Effect.READ and pinned.cache_seconds > 0:
        cached = desk.cache.lookup(name, arguments, desk.now(), pinned.cache_seconds)
        if cached is not None:
            return Outcome([*hooks, _answer(call, cached)])
    checked = desk.checked(tool, call.call.id, arguments)
    if isinstance(checked, ToolError):
        return Outcome([*hooks, _answer(call, ToolOutcome(False, shown_error(checked), checked))])
    if desk.witness is not None:
        desk.witness.sees_tool(state, call, checked)
    tried = await _tries(desk, state, call, tool, pinned, checked, spending)
    if isinstance(tried.result, Ask) and not state.tells_of:
        question = QuestionAsked(
            f"q-{call.call.id}-{call.attempt}", clean_text(tried.result.question), call.call.id
        )
        return Outcome([*hooks, question])
    if isinstance(tried.result, ToolError) and tried.result.code == "outcome_unknown":
        return Outcome([*hooks, ToolUnsettled(call.call.id, tried.result.detail)])
    if isinstance(tried.result, Handle):
        return await begun_in_background(desk, state, call, hooks, tried.result)
    outcome, events, items = _safe_outcome_of(desk, state, call, tool, tried, edited)
    outcome = changed(
        outcome,
        duration_ms=round((desk.seconds() - started) * 1000),
        attempts=tried.attempts,
        spent_tokens=spending.tokens,
        spent_usd=spending.usd,
    )
    if AFTER_TOOL in state.definition.hooks and (veto := await _after(desk, state, call, outcome, hooks)):
        error = shown_error(veto)
        outcome = changed(outcome, ok=False, shown=error, error=veto, found=(), fetched=())
        events = []
    return Outcome([*hooks, *events, _answer(call, outcome)], items)


async def _before(
    desk: Desk,
    state: RunState,
    call: Call,
    pinned: PinnedTool,
    arguments: dict[str, Json],
    hooks: list[AnyEvent],
) -> ToolError | None:
    """What keeps the call from running: a hook, a lost lease."""
    veto = None
    if BEFORE_TOOL in state.definition.hooks:
        info: dict[str, Json] = {"tool": pinned.name, "arguments": arguments}
        veto = await _hooked(desk, state, BEFORE_TOOL, info, call, hooks)
    if pinned.effect is Effect.ONCE:
        await desk.must_be_mine()
    return veto


async def _after(
    desk: Desk, state: RunState, call: Call, outcome: ToolOutcome, hooks: list[AnyEvent]
) -> ToolError | None:
    info: dict[str, Json] = {
        "tool": call.call.name,
        "arguments": call.call.arguments,
        "result": outcome.shown,
    }
    return await _hooked(desk, state, AFTER_TOOL, info, call, hooks)


async def _hooked(
    desk: Desk, state: RunState, point: str, info: dict[str, Json], call: Call, hooks: list[AnyEvent]
) -> ToolError | None:
    name = state.definition.hooks[point]
    ran: HookRan = await call_hook(desk, state, name, point, f"{point}:{call.call.id}", info, call.attempt)
    hooks.append(ran)
    return ToolError("vetoed", f"The hook {name} refused: {ran.veto}") if ran.veto is not None else None


async def _tries(
    desk: Desk,
    state: RunState,
    call: Call,
    tool: Tool,
    pinned: PinnedTool,
    arguments: dict[str, Json],
    spending: Spending,
) -> _Tried:
    """Try, and try again what raised or ran out of time; what a tool reports as failed only where the tool itself asks for it."""
    context = desk.handed(context_for(desk, state, call, spending))
    own = tool.retry
    most = 1 if pinned.effect is Effect.ONCE else pinned.max_attempts
    for attempt in range(1, most + 1):
        result, may_retry = await _one_try(tool, arguments, context, pinned)
        if attempt == most or not (may_retry or (own is not None and _reports_failure(result))):
            return _Tried(result, attempt)
        settings = RetrySettings(backoff=pinned.backoff, base_seconds=state.definition.retry.base_seconds)
        await asyncio.sleep(backoff_seconds(settings, attempt - 1))
    raise AssertionError("max_attempts is at least 1")


async def _one_try(
    tool: Tool, arguments: dict[str, Json], context: ToolContext, pinned: PinnedTool
) -> tuple[Returned, bool]:
    """One try under a deadline, and whether its trouble may pass.

    A tool that keeps its time itself answers first, with what had been printed; this deadline is for those that do not.
    """
    own = apart(arguments)  # the run's state and a next try keep theirs
    if pinned.background == LOCAL and tool.background is not None:
        return local_handle(tool.background, own, context), False
    try:
        running = tool.run(own, context)
        return await contained(running, pinned.timeout_seconds + GRACE_SECONDS), False
    except TimeoutError:
        detail = f"{pinned.name} did not end within {pinned.timeout_seconds:g} seconds and was stopped."
        return ToolError("timeout", detail), True
    except OutlastError as error:
        code = error.code if error.code in _TOLD_APART else "tool_failed"
        return ToolError(code, clean_text(str(error))), isinstance(error, Passing)
    except Escaped as error:
        return ToolError("tool_failed", clean_text(str(error))[:2000]), True
    except Exception as error:  # noqa: BLE001 - whatever a user's tool raises is told to the model, never raised out of the loop
        return ToolError("tool_failed", clean_text(f"{type(error).__name__}: {error}")[:2000]), True


def _reports_failure(result: Returned) -> bool:
    return isinstance(result, ToolResult) and not result.success


def _safe_outcome_of(
    desk: Desk, state: RunState, call: Call, tool: Tool, tried: _Tried, edited: dict[str, Json] | None
) -> tuple[ToolOutcome, list[AnyEvent], list[Item]]:
    """As `_outcome_of`; what a tool returned may be anything, so that reading it may fail in any way."""
    try:
        return _outcome_of(desk, state, call, tool, tried, edited)
    except Exception as error:  # noqa: BLE001 - the effect took place; the model must be told whatever came back
        detail = clean_text(f"What {tool.name} returned cannot be read: {type(error).__name__}: {error}")
        wrong = ToolError("invalid_output", detail[:2000])
        return ToolOutcome(False, shown_error(wrong), wrong), [], []


def _outcome_of(
    desk: Desk, state: RunState, call: Call, tool: Tool, tried: _Tried, edited: dict[str, Json] | None
) -> tuple[ToolOutcome, list[AnyEvent], list[Item]]:
    match tried.result:
        case ToolError() as error:
            return ToolOutcome(False, shown_error(error), error), [], []
        case Draft(content=content):
            return _handed_in(desk, state, call, content)
        case ToolResult() as result:
            return _of_result(desk, tool, result, edited)
        case other:
            error = ToolError(
                "tool_failed", f"{tool.name} returned {type(other).__name__}, not a ToolResult."
            )
            return ToolOutcome(False, shown_error(error), error), [], []


def _handed_in(
    desk: Desk, state: RunState, call: Call, content: dict[str, Json]
) -> tuple[ToolOutcome, list[AnyEvent], list[Item]]:
    try:
        draft = stored_form(content)
        assert isinstance(draft, dict)
        written: ReportWritten = report_event(draft, state, desk.ledger, by=call.branch)
    except ModelMistake as mistake:
        error = ToolError(mistake.code, str(mistake))
        return ToolOutcome(False, shown_error(error), error), [], []
    claims = sum(len(section.claims) for section in written.report.sections)
    told: dict[str, Json] = {
        "report": "written",
        "claims": claims,
        "sources": len(written.report.sources),
        "left_out": list(written.dropped),
    }
    return ToolOutcome(True, json.dumps(told, ensure_ascii=False)), [written], []


def _of_result(
    desk: Desk, tool: Tool, result: ToolResult, edited: dict[str, Json] | None
) -> tuple[ToolOutcome, list[AnyEvent], list[Item]]:
    if not result.success:
        error = ToolError(
            "tool_failed", clean_text(result.error or "The tool failed and did not say why.")[:4000]
        )
        return ToolOutcome(False, shown_error(error), error), [], []
    problems = desk.means.check_output(tool, result.data)
    if problems:
        error = ToolError(
            "invalid_output",
            f"What {tool.name} returned does not fit its schema.",
            tuple(map(clean_text, problems)),
        )
        return ToolOutcome(False, shown_error(error), error), [], []
    try:
        text, repairs = _as_text(result.data)
    except ModelMistake as mistake:
        error = ToolError("invalid_output", f"What {tool.name} returned cannot be stored. {mistake}")
        return ToolOutcome(False, shown_error(error), error), [], []
    items: list[Item] = []
    bounded = bound(text)
    digest = None
    if bounded.is_cut:
        digest, item = desk.keep(text)
        bounded = bound(text, digest=digest)
        items.append(item)
    fetched = [_fetched(desk, source, items) for source in result.read]
    outcome = ToolOutcome(
        True,
        bounded.shown,
        artifact=digest if bounded.is_cut else None,
        size_bytes=bounded.size_bytes if bounded.is_cut else 0,
        found=tuple(
            Found(clean_text(one.url), clean_text(one.title), clean_text(one.query)) for one in result.found
        ),
        fetched=tuple(fetched),
        note="" if edited is None else _edited_note(edited),
        repairs=repairs,
    )
    return outcome, [], items


def _fetched(desk: Desk, source: ReadSource, items: list[Item]) -> Fetched:
    """A page that was read, as the ledger keeps it; its text goes with the result."""
    digest, kept = desk.keep(clean_text(source.text))
    items.append(kept)
    at = desk.now().isoformat(timespec="seconds")
    return Fetched(
        clean_text(source.url), clean_text(source.title), digest, at, clean_text(source.media_type)
    )


def _edited_note(edited: dict[str, Json]) -> str:
    ran = json.dumps(edited, ensure_ascii=False)
    return (
        f"[A person changed the arguments of this call. What ran: {ran}. Do not ask for the original again.]"
    )


def _as_text(data: object) -> tuple[str, tuple[str, ...]]:
    """A tool's data as text, and what was replaced in it. Raises ModelMistake for what JSON cannot hold."""
    if isinstance(data, str):
        cleaned = clean_text(data)
        return cleaned, () if cleaned == data else ("lone surrogates",)
    stored = stored_form(data)
    return json.dumps(stored, ensure_ascii=False), ()


def _answer(call: Call, outcome: ToolOutcome) -> ToolAnswered:
    return ToolAnswered(call.call.id, outcome)
