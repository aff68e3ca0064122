"""Continuing a run: what another run concluded, with every source looked at again, as a new run inherits it."""

from __future__ import annotations

import asyncio
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, clean_text, digest_of
from outlast.domain.errors import Conflict, ToolTrouble
from outlast.domain.events import Origin
from outlast.domain.plan import Conclusion, Progress
from outlast.domain.run import RunState, SubtaskState
from outlast.journal.fold import load_state
from outlast.journal.history import read_history
from outlast.ports.search import Fetch
from outlast.ports.store import Store
from outlast.runs.forms import text_in
from outlast.runs.inheritance import inherited_conclusions
from outlast.runs.ledger import Entry, Ledger
from outlast.service.show import owned_row

MAX_READS: Final = 6
"""How many sources are looked at again at once."""


@dataclass(frozen=True, slots=True)
class Heritage:
    """What a run that continues another starts from."""

    origin: Origin
    inherited: Json


async def ended_state(store: Store, run_id: str, user_id: str) -> RunState:
    """The state of a run that has ended. Raises NotFound (`unknown_run`), Conflict (`run_not_ended`) while it is still active."""
    await owned_row(store, run_id, user_id)
    state = await load_state(store, run_id)
    if not state.has_ended:
        detail = f"{run_id} is {state.state}; only a run that has ended can be continued by another."
        raise Conflict("run_not_ended", detail, f"Let it end, or end it with `outlast cancel {run_id}`.")
    return state


async def heritage_of(store: Store, state: RunState, fetch: Fetch | None) -> Heritage:
    """What an ended run leaves: its supported conclusions whose sources read the same today, and what has to be asked again.

    Every source a conclusion rests on is fetched now. One that reads otherwise, or cannot be read, takes the conclusions that rest
    on it with it.
    """
    ledger = Ledger()
    for recorded in await read_history(store, state.run_id):
        ledger.fold(recorded)
    cited = {key: entry for key, entry in _cited(state, ledger).items() if entry is not None}
    changes = await _changes(fetch, list(cited.values()))
    sources: list[Json] = [_source(entry) for key, entry in cited.items() if key not in changes]
    changed: list[Json] = [
        {
            "url": cited[key].source.url,
            "title": cited[key].source.title,
            "reason": reason,
            "claims": [one.claim for _, one in _supported(state) if key in one.sources],
        }
        for key, reason in changes.items()
    ]
    standing = cited.keys() - changes.keys()
    inherited: Json = {
        "run_id": state.run_id,
        "question": state.input,
        "conclusions": [
            _conclusion(state, item, one)
            for item, one in _supported(state)
            if standing.issuperset(one.sources)
        ],
        "sources": sources,
        "open_questions": [question for item in state.plan for question in item.open_questions],
        "changed": changed,
        "asked_again": _asked_again(state, standing),
    }
    return Heritage(Origin("continuation", state.run_id, state.position), inherited)


def _supported(state: RunState) -> list[tuple[SubtaskState, Conclusion]]:
    return [
        (item, one) for item in state.plan for one in item.conclusions if one.is_supported and one.sources
    ]


def _cited(state: RunState, ledger: Ledger) -> dict[str, Entry | None]:
    return {key: ledger.entry(key, item.subtask.id) for item, one in _supported(state) for key in one.sources}


async def _changes(fetch: Fetch | None, entries: list[Entry]) -> dict[str, str]:
    """Why a source does not stand any more, by its key."""
    room = asyncio.Semaphore(MAX_READS)

    async def change(entry: Entry) -> str | None:
        if fetch is None:
            return "this task reads nothing, so it was not looked at"
        try:
            async with room:
                page = await fetch.fetch(entry.source.url)
        except ToolTrouble as trouble:
            return trouble.detail
        return (
            None
            if digest_of(clean_text(page.text)) == entry.source.text_digest
            else "its text is another now"
        )

    found = await asyncio.gather(*map(change, entries))
    return {entry.source.key: why for entry, why in zip(entries, found, strict=True) if why is not None}


def _source(entry: Entry) -> Json:
    source = entry.source
    return {
        "url": source.url,
        "title": source.title,
        "text_digest": source.text_digest,
        "fetched_at": source.fetched_at,
        "media_type": source.media_type,
        "query": entry.found_by.query if entry.found_by is not None else None,
    }


def _conclusion(state: RunState, item: SubtaskState, one: Conclusion) -> Json:
    return {
        "id": one.id,
        "claim": one.claim,
        "sources": list(one.sources),
        "quote": one.quote,
        "confidence": one.confidence,
        "subtask_question": _first_asked(state, item, one),
    }


def _first_asked(state: RunState, item: SubtaskState, one: Conclusion) -> str:
    """The question a conclusion answered where it was found, also when it was inherited since."""
    for known in inherited_conclusions(state):
        if text_in(known, "claim") == one.claim:
            return text_in(known, "subtask_question")
    return item.subtask.question


def _asked_again(state: RunState, standing: set[str]) -> list[Json]:
    """The questions of subtasks that were not settled, or of which a conclusion does not stand any more."""
    fallen = {item.subtask.id for item, one in _supported(state) if not standing.issuperset(one.sources)}
    return [
        item.subtask.question
        for item in state.plan
        if item.progress is not Progress.ACCEPTED or item.subtask.id in fallen
    ]
