"""The first tier: what the run itself concluded and read, as far as the conversation that asks may see it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from outlast.domain.recalled import Recalled
from outlast.domain.run import Branch, RunState, SubtaskState
from outlast.runs.desk import Desk
from outlast.runs.ledger import EARLIER, Entry
from outlast.runs.words import overlap, terms_of

MOST_PAGES: Final = 30
"""How many pages of the run are looked through for one recall."""

PASSAGE_CHARACTERS: Final = 600

_PARAGRAPH: Final = re.compile(r"\n\s*\n")


def visible_subtasks(state: RunState, branch: Branch) -> frozenset[str]:
    """The subtasks whose entries a conversation may see: its own and those it depends on; all where contexts are shared."""
    if state.definition.isolation == "shared":
        return frozenset(item.subtask.id for item in state.plan)
    own = [item for item in state.plan if item.subtask.id == branch.subtask]
    return frozenset(name for item in own for name in (item.subtask.id, *item.subtask.depends_on))


async def short_term(desk: Desk, state: RunState, branch: Branch, query: str) -> list[Recalled]:
    """What the run has found that shares words with the query and that this conversation may see, the best first.

    Entries of no subtask are seen by all. What is equally good keeps the order of the plan, then that of the addresses.
    """
    wanted = terms_of(query)
    visible = visible_subtasks(state, branch)
    found = [
        one for item in state.plan if item.subtask.id in visible for one in _conclusions(item, state, wanted)
    ]
    found += await _pages(desk, state, visible, wanted)
    return sorted(found, key=lambda one: -one.score)


def _conclusions(item: SubtaskState, state: RunState, wanted: frozenset[str]) -> Iterable[Recalled]:
    for one in item.conclusions:
        score = overlap(wanted, f"{item.subtask.question} {one.claim}")
        if score > 0 and one.is_supported:
            yield Recalled(
                id=one.id,
                tier="run",
                kind="conclusion",
                text=one.claim,
                score=round(score, 4),
                topic=item.subtask.question,
                run_id=state.run_id,
            )


async def _pages(
    desk: Desk, state: RunState, visible: frozenset[str], wanted: frozenset[str]
) -> list[Recalled]:
    """The best passage of each page that was read, where it has any of the wanted words."""
    own_subtasks = {name: branch.subtask for name, branch in state.branches.items()}
    pages: list[Recalled] = []
    for entry in desk.ledger.entries()[:MOST_PAGES]:
        is_run_wide = entry.branch == EARLIER or own_subtasks.get(entry.branch, entry.branch) is None
        if not is_run_wide and own_subtasks.get(entry.branch) not in visible:
            continue
        text = await desk.text(entry.source.text_digest)
        passage, score = best_passage(text or "", wanted)
        if score > 0:
            pages.append(_page(entry, state, passage, score))
    return pages


def best_passage(text: str, wanted: frozenset[str]) -> tuple[str, float]:
    """The passage of a text that has most of the wanted words, and which part of them it has."""
    passages = [
        paragraph[at : at + PASSAGE_CHARACTERS]
        for paragraph in _PARAGRAPH.split(text)
        for at in range(0, len(paragraph), PASSAGE_CHARACTERS)
    ]
    scored = [(overlap(wanted, passage), -place) for place, passage in enumerate(passages)]
    score, place = max(scored, default=(0.0, 0))
    return (passages[-place].strip(), score) if score > 0 else ("", 0.0)


def _page(entry: Entry, state: RunState, passage: str, score: float) -> Recalled:
    source = entry.source
    return Recalled(
        id=source.key,
        tier="run",
        kind="page",
        text=passage,
        score=round(score, 4),
        title=source.title,
        source=source.url,
        known_at=source.fetched_at,
        run_id=state.run_id,
    )
