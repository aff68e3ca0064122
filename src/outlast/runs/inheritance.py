"""What a run has from the run that it continues, as `RunStarted.inherited` holds it.

`{"run_id", "question", "conclusions": [{"claim", "sources", "quote", "confidence", "subtask_question"}], "sources": [{"url", "title",
"text_digest", "fetched_at", "media_type", "query"}], "open_questions": [...], "changed": [{"url", "title", "reason",
"claims": [...]}], "asked_again": [...]}`: the conclusions still hold, their sources were looked at again; `changed` are the sources
that do not, with what rested on them, and `asked_again` the questions that are not settled.
"""

from __future__ import annotations

from outlast.domain.door import Json
from outlast.domain.run import RunState
from outlast.runs.forms import text_in, texts_in


def inherited_from(state: RunState) -> str:
    """The id of the run that this one continues; empty when it continues none."""
    return text_in(state.inherited, "run_id")


def inherited_conclusions(state: RunState) -> list[dict[str, Json]]:
    """The conclusions that still hold, in the order of the other run's plan."""
    return _objects(state, "conclusions")


def asked_again(state: RunState) -> frozenset[str]:
    """The questions whose answers rested on something that has changed, or that were not settled."""
    return frozenset(texts_in(state.inherited, "asked_again"))


def is_old(state: RunState, claim: str) -> bool:
    """Did the other run claim this already, whether it was taken over or had to be found again?"""
    return any(text_in(one, "claim") == claim for one in inherited_conclusions(state)) or any(
        claim in texts_in(one, "claims") for one in _objects(state, "changed")
    )


def changed_sources(state: RunState) -> tuple[str, ...]:
    """The titles of the sources that could not be taken over."""
    return tuple(text_in(one, "title") or text_in(one, "url") for one in _objects(state, "changed"))


def _objects(state: RunState, name: str) -> list[dict[str, Json]]:
    listed = state.inherited.get(name) if isinstance(state.inherited, dict) else None
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
