"""Making the summary of a folding: the model's, where it will do, else one that is drawn from the lines without it."""

from __future__ import annotations

from dataclasses import replace

from outlast.domain.context_summary import ContextSummary
from outlast.domain.events import ContextSummarised
from outlast.runs.compression import Fold, leaving
from outlast.runs.scene import Scene
from outlast.runs.summaries import (
    DRAWN_CHARACTERS,
    bounded_summary,
    drawn_summary,
    is_empty,
    items_in,
    summary_in,
    tokens_of,
    with_artifacts,
)
from outlast.runs.summarising import request_text
from outlast.runs.summary import waiting_for

_PENDING_CHARACTERS = 200
_MANY_ITEMS = 8
_LEAST_KEPT_SHARE = 0.25
"""Notes may be joined and dropped, but a summary that takes so many and gives so few has forgotten them."""


def made_summary(scene: Scene, fold: Fold) -> ContextSummarised:
    """The event that folds: with the model's summary, or why it was no use and one that needs no model."""
    answered = scene.answer_for(fold)
    problem = ""
    if answered is not None:
        problem = answered.problem or ""
        summary = _bounded(scene, fold, _completed(scene, fold, summary_in(answered.value)))
        problem = problem or _fault_of(scene, fold, summary)
        if not problem:
            return _event(scene, fold, summary, "model", "")
    return _event(scene, fold, _drawn(scene, fold), "engine", problem)


def _drawn(scene: Scene, fold: Fold) -> ContextSummary:
    """The fullest summary without a model that fits; where none does, the shortest, cut."""
    lines = scene.lines_before(fold.before)
    gone, request = leaving(lines), request_text(lines)
    earlier = scene.conversations.summary_of(scene.branch.id)
    summary = ContextSummary()
    for characters in DRAWN_CHARACTERS:
        summary = _completed(scene, fold, drawn_summary(gone, earlier, request, characters))
        if tokens_of(summary, scene.conversations.count) <= fold.most_tokens:
            break
    return _bounded(scene, fold, summary)


def _completed(scene: Scene, fold: Fold, summary: ContextSummary) -> ContextSummary:
    """A summary with what the engine knows better than a model: every stored result there was, and what waits for a person."""
    lines = leaving(scene.lines_before(fold.before))
    summary = with_artifacts(summary, lines, scene.conversations.summary_of(scene.branch.id))
    pending = tuple(text[:_PENDING_CHARACTERS] for text in waiting_for(scene.state))
    return replace(summary, pending=pending)


def _bounded(scene: Scene, fold: Fold, summary: ContextSummary) -> ContextSummary:
    return bounded_summary(summary, fold.most_tokens, scene.conversations.count)


def _fault_of(scene: Scene, fold: Fold, summary: ContextSummary) -> str:
    if is_empty(summary):
        return "it says nothing of what happened"
    known = scene.conversations.notes_of_model(scene.branch.id)
    if known >= _MANY_ITEMS and items_in(summary) < known * _LEAST_KEPT_SHARE:
        return "it leaves out most of what was known before"
    return "it is no shorter" if tokens_of(summary, scene.conversations.count) >= fold.replaces else ""


def _event(scene: Scene, fold: Fold, summary: ContextSummary, by: str, problem: str) -> ContextSummarised:
    return ContextSummarised(
        branch=scene.branch.id,
        before=fold.before,
        summary=summary,
        by=by,
        reason=fold.reason,
        problem=problem,
        replaced_tokens=fold.replaces,
        tokens=tokens_of(summary, scene.conversations.count),
    )
