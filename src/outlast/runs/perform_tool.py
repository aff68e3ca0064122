"""Performing a tool call: once, or as often as its effect and settings allow; bounded in time and output; never raising."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, apart, clean_text, in_words
from outlast.domain.errors import OutlastError, Passing
from outlast.domain.events import AnyEvent, HookRan, PinnedTool, QuestionAsked, ToolAnswered, ToolUnsettled
from outlast.domain.hooks import AFTER_TOOL, BEFORE_TOOL
from outlast.domain.quick import quick
from outlast.domain.run import Call, RunState
from outlast.domain.task import RetrySettings
from outlast.domain.tool_call import Effect, ToolError, ToolOutcome
from outlast.ports.background_driver import Handle
from outlast.ports.batch import Item
from outlast.ports.tool import Ask, Draft, Tool, ToolContext, ToolResult
from outlast.runs.background import LOCAL, adrift, begun_in_background, local_handle
from outlast.runs.contained import Escaped, contained
from outlast.runs.desk import Desk, Outcome
from outlast.runs.flight import Hold, Late, Leg, Owed, Unheard
from outlast.runs.hooks import call_hook
from outlast.runs.money import Spending
from outlast.runs.moves import shown_error
from outlast.runs.perform_model import backoff_seconds
from outlast.runs.tool_context import context_for
from outlast.runs.tool_outcome import Took, outcome_of

T = TypeVar("T")

Returned = ToolResult | Ask | Draft | Handle | ToolError
"""What a try of a call came to."""

GRACE_SECONDS: Final = 2.0
"""How long a tool may take to stop by itself after its time is up, before the engine cancels it."""


_TOLD_APART: Final = frozenset({"timeout", "outcome_unknown"})
"""Codes of errors raised by tools that keep their meaning; every other error means that the tool failed."""


@quick
@dataclass(frozen=True, slots=True)
class _AtWork:
    """A call that runs: what it needs for every try, and `hooks`, the verdicts so far."""

    desk: Desk
    state: RunState
    call: Call
    edited: dict[str, Json] | None
    tool: Tool
    pinned: PinnedTool
    arguments: dict[str, Json]
    context: ToolContext
    hooks: list[AnyEvent]
    spending: Spending
    started_seconds: float
    hold: Hold


async def perform_tool(desk: Desk, state: RunState, call: Call, edited: dict[str, Json] | None) -> Outcome:
    """Run a call, every try in a task of its own, and turn what comes into events."""
    came = await begin_tool(desk, state, call, edited, _apart)
    while not isinstance(came, Outcome):
        came = await came()
    return came


async def begin_tool(
    desk: Desk, state: RunState, call: Call, edited: dict[str, Json] | None, hold: Hold
) -> Outcome | Leg:
    """Run a call and turn what comes into events. Trouble of every kind becomes a structured error for the model."""
    started_seconds = desk.seconds()
    name = call.call.name
    pinned, tool = state.tools[name], desk.means.tools.get(name)
    arguments = call.call.arguments if edited is None else edited
    hooks: list[AnyEvent] = []
    spending = desk.spending_of(call.call.id)
    refusal = await _before(desk, state, call, pinned, arguments, hooks)
    if refusal is not None or tool is None:
        refusal = refusal or ToolError("unknown_tool", f"The tool {name} is not there any more.")
        return Outcome([*hooks, _answer(call, ToolOutcome(False, shown_error(refusal), refusal))])
    if pinned.cache_seconds > 0 and pinned.effect is Effect.READ:
        cached = desk.cache.lookup(name, arguments, desk.now(), pinned.cache_seconds)
        if cached is not None:
            return Outcome([*hooks, _answer(call, cached)])
    checked = desk.checked(tool, call.call.id, arguments)
    if isinstance(checked, ToolError):
        return Outcome([*hooks, _answer(call, ToolOutcome(False, shown_error(checked), checked))])
    if desk.witness is not None:
        desk.witness.sees_tool(state, call, checked)
    context = desk.handed(context_for(desk, state, call, spending))
    work = _AtWork(
        desk, state, call, edited, tool, pinned, checked, context, hooks, spending, started_seconds, hold
    )
    return await _try(work, 1)


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


async def _try(work: _AtWork, attempt: int) -> Outcome | Leg:
    """One try under a deadline.

    A tool that keeps its time itself answers first, with what had been printed; this deadline is for those that do not.
    """
    tool, pinned = work.tool, work.pinned
    own = apart(work.arguments)  # the run's state and a next try keep theirs
    if pinned.background == LOCAL and tool.background is not None:
        return _settled(work, attempt, local_handle(tool.background, own, work.context))
    seconds, left = pinned.timeout_seconds + GRACE_SECONDS, partial(_out_of_time, work, attempt)
    try:
        result: Returned = await work.hold(tool.run(own, work.context), seconds, left)
    except Late as late:
        return _settled(work, attempt, late.came) if isinstance(late.came, Handle) else await left()
    except TimeoutError:
        return await left()
    except Unheard as unheard:
        if isinstance(unheard.came, Handle):
            await adrift(work.desk, work.state, work.call, unheard.came)
        raise
    except OutlastError as error:
        code = error.code if error.code in _TOLD_APART else "tool_failed"
        trouble, may_pass = ToolError(code, clean_text(str(error))), isinstance(error, Passing)
    except Escaped as error:
        return _let_out(work, attempt, error)
    except Exception as error:  # noqa: BLE001 - whatever a user's tool raises is told to the model, never raised out of the loop
        trouble, may_pass = ToolError("tool_failed", in_words(error)[:2000]), True
    else:
        return _tried(work, attempt, result, may_pass=tool.retry is not None and _reports_failure(result))
    return _tried(work, attempt, trouble, may_pass=may_pass)


async def _out_of_time(work: _AtWork, attempt: int) -> Outcome | Leg:
    pinned = work.pinned
    detail = f"{pinned.name} did not end within {pinned.timeout_seconds:g} seconds and was stopped."
    return _tried(work, attempt, ToolError("timeout", detail), may_pass=True)


def _let_out(work: _AtWork, attempt: int, error: Escaped) -> Outcome | Leg:
    if isinstance(error.came, Handle):
        return _settled(work, attempt, error.came)
    return _tried(work, attempt, ToolError("tool_failed", str(error)[:2000]), may_pass=True)


def _tried(work: _AtWork, attempt: int, result: Returned, *, may_pass: bool) -> Outcome | Leg:
    """Try again what raised or ran out of time; what a tool reports as failed only where the tool itself asks for it."""
    pinned = work.pinned
    if may_pass and attempt < pinned.max_attempts and pinned.effect is not Effect.ONCE:
        return partial(_again, work, attempt)
    return _settled(work, attempt, result)


async def _again(work: _AtWork, attempt: int) -> Outcome | Leg:
    base_seconds = work.state.definition.retry.base_seconds
    settings = RetrySettings(backoff=work.pinned.backoff, base_seconds=base_seconds)
    await asyncio.sleep(backoff_seconds(settings, attempt - 1))
    return await _try(work, attempt + 1)


def _settled(work: _AtWork, attempts: int, result: Returned) -> Outcome | Leg:
    """Turn what the last try came to into events; where something must be waited for, in a next leg."""
    desk, state, call, hooks = work.desk, work.state, work.call, work.hooks
    if isinstance(result, Ask) and not state.tells_of:
        question = QuestionAsked(
            f"q-{call.call.id}-{call.attempt}", clean_text(result.question), call.call.id
        )
        return Outcome([*hooks, question])
    if isinstance(result, ToolError) and result.code == "outcome_unknown":
        return Outcome([*hooks, ToolUnsettled(call.call.id, result.detail)])
    if isinstance(result, Handle):
        return Owed(partial(begun_in_background, desk, state, call, hooks, result))
    duration_ms = round((desk.seconds() - work.started_seconds) * 1000)
    took = Took(duration_ms, attempts, work.spending.tokens, work.spending.usd)
    outcome, events, items = outcome_of(desk, state, call, work.tool, result, work.edited, took)
    if AFTER_TOOL in state.definition.hooks:
        return partial(_after, work, outcome, events, items)
    return Outcome([*hooks, *events, _answer(call, outcome)], items)


async def _after(
    work: _AtWork, outcome: ToolOutcome, events: Sequence[AnyEvent], items: Sequence[Item]
) -> Outcome:
    call, hooks = work.call, work.hooks
    info: dict[str, Json] = {
        "tool": call.call.name,
        "arguments": call.call.arguments,
        "result": outcome.shown,
    }
    veto = await _hooked(work.desk, work.state, AFTER_TOOL, info, call, hooks)
    if veto is not None:
        error = shown_error(veto)
        outcome = replace(outcome, ok=False, shown=error, error=veto, found=(), fetched=())
        events = []
    return Outcome([*hooks, *events, _answer(call, outcome)], items)


async def _hooked(
    desk: Desk, state: RunState, point: str, info: dict[str, Json], call: Call, hooks: list[AnyEvent]
) -> ToolError | None:
    name = state.definition.hooks[point]
    ran: HookRan = await call_hook(desk, state, name, point, f"{point}:{call.call.id}", info, call.attempt)
    hooks.append(ran)
    return ToolError("vetoed", f"The hook {name} refused: {ran.veto}") if ran.veto is not None else None


async def _apart(work: Awaitable[T], seconds: float, left: Leg) -> T:
    return await contained(work, seconds)


def _reports_failure(result: Returned) -> bool:
    return isinstance(result, ToolResult) and not result.success


def _answer(call: Call, outcome: ToolOutcome) -> ToolAnswered:
    return ToolAnswered(call.call.id, outcome)
