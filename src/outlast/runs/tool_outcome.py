"""From what a tool returned to what its call comes to: checked, stored, and cut to what a model is shown."""

from __future__ import annotations

import json

from outlast.domain.bounded import bound
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, clean_text, in_words, stored_form
from outlast.domain.errors import ModelMistake
from outlast.domain.events import AnyEvent, ReportWritten
from outlast.domain.quick import maker_of, quick
from outlast.domain.run import Call, RunState
from outlast.domain.source import Fetched, Found
from outlast.domain.tool_call import ToolError, ToolOutcome
from outlast.ports.batch import Item
from outlast.ports.tool import Draft, ReadSource, Tool, ToolResult
from outlast.runs.desk import Desk
from outlast.runs.drafts import report_event
from outlast.runs.moves import shown_error

_outcome = maker_of(ToolOutcome)


@quick
@dataclass(frozen=True, slots=True)
class Took:
    """What the tries of a call took, and what model calls made by the tool itself used up."""

    duration_ms: int
    attempts: int
    spent_tokens: int
    spent_usd: float


def outcome_of(
    desk: Desk,
    state: RunState,
    call: Call,
    tool: Tool,
    result: object,
    edited: dict[str, Json] | None,
    took: Took,
) -> tuple[ToolOutcome, list[AnyEvent], list[Item]]:
    """What a call comes to, and what is written with it. What a tool returned may be anything, so that reading it may fail."""
    try:
        match result:
            case ToolResult():
                return _of_result(desk, tool, result, edited, took)
            case ToolError() as error:
                return _failure(error, took)
            case Draft(content=content):
                return _handed_in(desk, state, call, content, took)
            case other:
                wrong = f"{tool.name} returned {type(other).__name__}, not a ToolResult."
                return _failure(ToolError("tool_failed", wrong), took)
    except Exception as error:  # noqa: BLE001 - the effect took place; the model must be told whatever came back
        detail = f"What {tool.name} returned cannot be read: {in_words(error)}"
        return _failure(ToolError("invalid_output", detail[:2000]), took)


def _failure(error: ToolError, took: Took) -> tuple[ToolOutcome, list[AnyEvent], list[Item]]:
    outcome = ToolOutcome(
        False,
        shown_error(error),
        error,
        duration_ms=took.duration_ms,
        attempts=took.attempts,
        spent_tokens=took.spent_tokens,
        spent_usd=took.spent_usd,
    )
    return outcome, [], []


def _handed_in(
    desk: Desk, state: RunState, call: Call, content: dict[str, Json], took: Took
) -> tuple[ToolOutcome, list[AnyEvent], list[Item]]:
    try:
        draft = stored_form(content)
        assert isinstance(draft, dict)
        written: ReportWritten = report_event(draft, state, desk.ledger, by=call.branch)
    except ModelMistake as mistake:
        return _failure(ToolError(mistake.code, str(mistake)), took)
    claims = sum(len(section.claims) for section in written.report.sections)
    told: dict[str, Json] = {
        "report": "written",
        "claims": claims,
        "sources": len(written.report.sources),
        "left_out": list(written.dropped),
    }
    outcome = ToolOutcome(
        True,
        json.dumps(told, ensure_ascii=False),
        duration_ms=took.duration_ms,
        attempts=took.attempts,
        spent_tokens=took.spent_tokens,
        spent_usd=took.spent_usd,
    )
    return outcome, [written], []


def _of_result(
    desk: Desk, tool: Tool, result: ToolResult, edited: dict[str, Json] | None, took: Took
) -> tuple[ToolOutcome, list[AnyEvent], list[Item]]:
    if not result.success:
        said = clean_text(result.error or "The tool failed and did not say why.")[:4000]
        return _failure(ToolError("tool_failed", said), took)
    problems = desk.means.check_output(tool, result.data)
    if problems:
        detail = f"What {tool.name} returned does not fit its schema."
        return _failure(ToolError("invalid_output", detail, tuple(map(clean_text, problems))), took)
    try:
        text, repairs = _as_text(result.data)
    except ModelMistake as mistake:
        detail = f"What {tool.name} returned cannot be stored. {mistake}"
        return _failure(ToolError("invalid_output", detail), took)
    items: list[Item] = []
    bounded = bound(text)
    digest = None
    if bounded.is_cut:
        digest, item = desk.keep(text)
        bounded = bound(text, digest=digest)
        items.append(item)
    outcome = _outcome(
        True,
        bounded.shown,
        artifact=digest,
        size_bytes=bounded.size_bytes if bounded.is_cut else 0,
        found=tuple(
            [Found(clean_text(one.url), clean_text(one.title), clean_text(one.query)) for one in result.found]
        ),
        fetched=tuple([_fetched(desk, source, items) for source in result.read]),
        duration_ms=took.duration_ms,
        attempts=took.attempts,
        note="" if edited is None else _edited_note(edited),
        spent_tokens=took.spent_tokens,
        spent_usd=took.spent_usd,
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
