"""The ledger of sources: what a run has really read, by which step, and the query that led there. Read from the journal.

Citations can be made from it and from nothing else. Its entries are kept by conversation, so that what a subtask cites
does not depend on which of two parallel subtasks was faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar, Final, TypeVar

from outlast.domain.dataclass import dataclass
from outlast.domain.events import (
    BranchOpened,
    ModelAnswered,
    ModelRequested,
    PlanMade,
    Recorded,
    RunStarted,
    ToolAnswered,
)
from outlast.domain.ids import source_key
from outlast.domain.quick import quick
from outlast.domain.report import FoundBy
from outlast.domain.source import Fetched, Found
from outlast.runs.hearing import Hears, hear

T = TypeVar("T")

EARLIER_STEP: Final = 0
"""The step of what the run that this one continues has read."""

EARLIER: Final = ""
"""The conversation that stands for all of that run."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A source as one conversation read it: in which step, and by which search it was found, if by one."""

    source: Fetched
    branch: str
    step: int
    found_by: FoundBy | None


@quick
@dataclass(frozen=True, slots=True)
class _Asked:
    branch: str
    step: int
    order: int


class Ledger:
    """Every source of a run, folded from its journal."""

    def __init__(self) -> None:
        self._steps = 0
        self._branch_of_model_call: dict[str, str] = {}
        self._asked: dict[str, _Asked] = {}
        self._reads: dict[str, dict[str, tuple[int, int, Fetched]]] = {}
        self._finds: dict[str, dict[str, tuple[int, int, Found]]] = {}
        self._plan_order: list[str] = []

    def fold(self, recorded: Recorded) -> None:
        """Read one more event."""
        hear(self, recorded)

    def entry(self, name: str, branch: str | None = None) -> Entry | None:
        """The source with this key or address, as `branch` read it, else as the first conversation in plan order did."""
        key = name if name.startswith("s-") else source_key(name)
        by_branch = self._reads.get(key)
        if not by_branch:
            return None
        reader = branch if branch in by_branch else min(by_branch, key=self._rank)
        step, _, source = by_branch[reader]
        return Entry(source, reader, step, self._found_by(source.url, reader))

    def entries(self) -> list[Entry]:
        """Every source as each conversation read it: in plan order, then by address."""
        read = [
            Entry(source, branch, step, self._found_by(source.url, branch))
            for by_branch in self._reads.values()
            for branch, (step, _, source) in by_branch.items()
        ]
        return sorted(read, key=lambda entry: (self._rank(entry.branch), entry.source.url))

    def keys(self) -> list[str]:
        """The keys of all sources that were read."""
        return sorted(self._reads)

    def _requested(self, _recorded: Recorded, event: ModelRequested) -> None:
        self._steps += 1
        self._branch_of_model_call[event.call] = event.branch

    def _answered(self, _recorded: Recorded, event: ModelAnswered) -> None:
        branch = self._branch_of_model_call.pop(event.call)
        for order, asked in enumerate(event.tool_calls):
            self._asked[asked.id] = _Asked(branch, self._steps, order)

    def _tool_answered(self, _recorded: Recorded, event: ToolAnswered) -> None:
        asked, outcome = self._asked.pop(event.call, None), event.outcome
        if asked is None:
            return
        for found in outcome.found:
            _keep_first(self._finds.setdefault(found.url, {}), asked, found)
        for source in outcome.fetched:
            _keep_first(self._reads.setdefault(source.key, {}), asked, source)

    def _opened(self, _recorded: Recorded, event: BranchOpened) -> None:
        if event.branch not in self._plan_order:
            self._plan_order.append(event.branch)

    def _planned(self, _recorded: Recorded, event: PlanMade) -> None:
        planned = [subtask.id for subtask in event.subtasks]
        self._plan_order = planned + [name for name in self._plan_order if name not in planned]

    def _found_by(self, url: str, branch: str) -> FoundBy | None:
        by_branch = self._finds.get(url)
        if not by_branch:
            return None
        finder = branch if branch in by_branch else min(by_branch, key=self._rank)
        step, _, found = by_branch[finder]
        return FoundBy(step, found.query)

    def _rank(self, branch: str) -> tuple[int, str]:
        known = self._plan_order
        return (known.index(branch) if branch in known else len(known), branch)

    def _started(self, _recorded: Recorded, event: RunStarted) -> None:
        """Sources of the run this one continues, and the queries that led there."""
        sources: object = event.inherited.get("sources") if isinstance(event.inherited, dict) else None
        for item in sources if isinstance(sources, list) else []:
            source = Fetched(
                item["url"], item["title"], item["text_digest"], item["fetched_at"], item["media_type"]
            )
            self._reads.setdefault(source.key, {})[EARLIER] = (EARLIER_STEP, 0, source)
            if item.get("query"):
                found = Found(source.url, source.title, item["query"])
                self._finds.setdefault(source.url, {})[EARLIER] = (EARLIER_STEP, 0, found)

    HEARS: ClassVar[Hears] = {
        ModelRequested: _requested,
        ModelAnswered: _answered,
        ToolAnswered: _tool_answered,
        BranchOpened: _opened,
        PlanMade: _planned,
        RunStarted: _started,
    }


def _keep_first(entries: dict[str, tuple[int, int, T]], asked: _Asked, item: T) -> None:
    """Of what one conversation saw twice, the earlier counts: by step, then by the order of the calls, never by finish."""
    known = entries.get(asked.branch)
    if known is None or (asked.step, asked.order) < known[:2]:
        entries[asked.branch] = (asked.step, asked.order, item)


def is_quoted(quote: str, text: str) -> bool:
    """Does `quote` stand in `text`, white space aside?"""
    wanted = _squeezed(quote)
    return bool(wanted) and wanted in _squeezed(text)


def quoted_in(quote: str, texts: Iterable[str]) -> bool:
    """Does `quote` stand in one of the texts?"""
    return any(is_quoted(quote, text) for text in texts)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
