"""From a draft or from conclusions to the event that a report was written."""

from __future__ import annotations

from dataclasses import replace

from outlast.domain.door import Json, digest_of
from outlast.domain.events import ReportWritten
from outlast.domain.report import Report
from outlast.domain.run import RunState
from outlast.runs.ledger import Ledger
from outlast.runs.report import Made, from_conclusions, from_draft
from outlast.runs.workflows.research.reporting import outcome_of


def report_event(content: dict[str, Json], state: RunState, ledger: Ledger, by: str) -> ReportWritten:
    """The report a writer handed in. Raises ModelMistake (`unsupported_report`)."""
    return _event(from_draft(content, state, ledger, outcome_of(state)), by)


def composed_event(
    state: RunState, ledger: Ledger, written: Report | None, outcome: str, reason: str
) -> ReportWritten:
    """The report the engine makes: where a limit cuts a run short, the one that was `written`, else from the conclusions."""
    if written is not None and state.report_position and state.reached:
        kept = replace(written, outcome=outcome, limits=tuple(dict.fromkeys((*written.limits, reason))))
        return _event(Made(kept, ()), "engine")
    return _event(from_conclusions(state, ledger, outcome, reason), "engine")


def _event(made: Made, by: str) -> ReportWritten:
    return ReportWritten(made.report, by, digest_of(repr(made.report)), made.dropped)
