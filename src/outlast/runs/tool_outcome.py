"""From what a tool returned to what its call comes to: checked, stored, and cut to what a model is shown."""

from __future__ import annotations

import json

from outlast.domain.bounded import bound
from outlast.domain.door import Json, clean_text, in_words, stored_form
from outlast.domain.errors import ModelMistake
from outlast.domain.events import AnyEvent, ReportWritten
from outlast.domain.run import Call, RunState
from outlast.domain.source import Fetched, Found
from outlast.domain.tool_call import ToolError, ToolOutcome
from outlast.ports.batch import Item
from outlast.ports.tool import Draft, ReadSource, Tool, ToolResult
from outlast.runs.desk import Desk
from outlast.runs.drafts import report_event
from outlast.runs.moves import shown_error


def outcome_of(
    desk: Desk, state: RunState, call: Call, tool: Tool, result: object, edited: dict[str, Json] | None
) -> tuple[ToolOutcome, list[AnyEvent], list[Item]]:
    """What a call comes to, and what is written with it. What a tool returned may be anything, so that reading it may fail."""
    try:
        return _outcome_of(desk, state, call, tool, result, edited)
    except Exception as error:  # noqa: BLE001 - the effect took place; the model must be told whatever came back
        detail = f"What {tool.name} returned cannot be read: {in_words(error)}"
        wrong = ToolError("invalid_output", detail[:2000])
        return ToolOutcome(False, shown_error(wrong), wrong), [], []


def _outcome_of(
    desk: Desk, state: RunState, call: Call, tool: Tool, result: object, edited: dict[str, Json] | None
) -> tuple[ToolOutcome, list[AnyEvent], list[Item]]:
    match result:
        case ToolError() as error:
            return ToolOutcome(False, shown_error(error), error), [], []
        case Draft(content=content):
            return _handed_in(desk, state, call, content)
        case ToolResult():
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
