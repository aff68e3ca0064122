"""What a run used and how it went, by model, tool, role and subtask: a reading of its journal that its row carries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any, ClassVar, Final, TypeVar

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.events import (
    BranchOpened,
    LimitReached,
    LoopNoticed,
    ModelAnswered,
    ModelFailed,
    ModelRequested,
    Recorded,
    RunForked,
    ToolAnswered,
)
from outlast.domain.quick import quick
from outlast.journal.codec import UNREADABLE, from_plain, to_plain
from outlast.runs.hearing import Hears, hear

VERSION: Final = 1
"""Raised whenever the same events come to another tally; one of another version is made anew from the journal."""

MOST_NAMES: Final = 60
"""How many tools or models of a run are told apart; a tally is part of a row, which must not grow with the run."""

UNKNOWN_TOOL: Final = "(unknown)"
"""Under this name calls of tools that are not there are counted, whatever a model named."""

OTHERS: Final = "(others)"

Figures = TypeVar("Figures")


@dataclass(slots=True)
class Spent:
    """What a role used for a subtask. `tokens` and `cost_usd` hold what its tools spent on models, and answers that were lost."""

    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    duration_ms: int = 0


@dataclass(slots=True)
class OfModel:
    """Calls of one model. Of the answers it owed in a form, so many fitted as they came, were repaired, or were of no use."""

    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    duration_ms: int = 0
    fitted: int = 0
    repaired: int = 0
    unusable: int = 0
    faults: dict[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """How many calls gave no answer."""
        return sum(self.faults.values())


@dataclass(slots=True)
class OfTool:
    """Calls of one tool that have a result; `cached` ones were not made again, `errors` says of what how many failed."""

    calls: int = 0
    cached: int = 0
    duration_ms: int = 0
    errors: dict[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """How many calls failed."""
        return sum(self.errors.values())


@quick
@dataclass(frozen=True, slots=True)
class Asked:
    """A call on its way: of a model or tool, for a role and subtask. The reserve is spent should the answer be lost."""

    name: str
    branch: str
    role: str
    tokens: int = 0
    cost_usd: float = 0.0


@dataclass(slots=True)
class Tally:
    """The figures of a run up to `position`. A fork counts what happened since it was forked.

    `spent` is by role, then by subtask ("" for what belongs to none); `loops` counts steering and stops, `limits` those reached.
    """

    position: int = 0
    models: dict[str, OfModel] = field(default_factory=dict)
    tools: dict[str, OfTool] = field(default_factory=dict)
    spent: dict[str, dict[str, Spent]] = field(default_factory=dict)
    loops: dict[str, int] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    subtasks: dict[str, str] = field(default_factory=dict)
    model_calls: dict[str, Asked] = field(default_factory=dict)
    tool_calls: dict[str, Asked] = field(default_factory=dict)

    def fold(self, recorded: Recorded) -> None:
        """Read one more event."""
        hear(self, recorded)
        self.position = recorded.position

    def total(self) -> Spent:
        """The sum over roles and subtasks."""
        return _sum(spent for by_subtask in self.spent.values() for spent in by_subtask.values())

    def by_role(self) -> dict[str, Spent]:
        """What each role used."""
        return {role: _sum(by_subtask.values()) for role, by_subtask in self.spent.items()}

    def by_subtask(self) -> dict[str, Spent]:
        """What was used for each subtask, "" being what belongs to none."""
        names = dict.fromkeys(name for by_subtask in self.spent.values() for name in by_subtask)
        names |= {"": names.pop("", None)} if "" in names else {}
        return {
            name: _sum(by_subtask[name] for by_subtask in self.spent.values() if name in by_subtask)
            for name in names
        }

    def _requested(self, _recorded: Recorded, event: ModelRequested) -> None:
        if self.model_calls:
            self._lose_those_of(event.branch)
        asked = Asked(event.model, event.branch, event.role, event.reserved_tokens, event.reserved_usd)
        self.model_calls[event.call] = asked
        self._place(asked).steps += 1
        _named(self.models, event.model, OfModel).calls += 1

    def _lose_those_of(self, branch: str) -> None:
        """Count what was set aside for calls of a branch whose answers nobody heard."""
        lost = [call for call, asked in self.model_calls.items() if asked.branch == branch]
        for call in lost:
            asked = self.model_calls.pop(call)
            self._spend(asked, tokens=asked.tokens, cost_usd=asked.cost_usd)

    def _answered(self, _recorded: Recorded, event: ModelAnswered) -> None:
        asked = self.model_calls.pop(event.call, None)
        if asked is None:
            return
        tokens = event.input_tokens + event.output_tokens
        model = self._end(asked, tokens, event.cost_usd or 0.0, event.duration_ms)
        if event.problem is not None:
            model.unusable += 1
        elif event.is_repaired:
            model.repaired += 1
        elif event.value is not None:
            model.fitted += 1
        for call in event.tool_calls:
            self.tool_calls[call.id] = Asked(call.name, asked.branch, asked.role)

    def _failed(self, _recorded: Recorded, event: ModelFailed) -> None:
        asked = self.model_calls.pop(event.call, None)
        if asked is None:
            return
        faults = self._end(asked, event.spent_tokens, event.spent_usd, event.duration_ms).faults
        faults[event.fault] = faults.get(event.fault, 0) + 1

    def _end(self, asked: Asked, tokens: int, cost_usd: float, duration_ms: int) -> OfModel:
        """Count a model call that is over, for whom it was made and for its model, whose figures come back."""
        self._spend(asked, tokens, cost_usd, duration_ms)
        model = _named(self.models, asked.name, OfModel)
        model.tokens += tokens
        model.cost_usd += cost_usd
        model.duration_ms += duration_ms
        return model

    def _tool_answered(self, _recorded: Recorded, event: ToolAnswered) -> None:
        asked, outcome = self.tool_calls.pop(event.call, None), event.outcome
        if asked is None:
            return
        code = outcome.error.code if outcome.error is not None else None
        tool = _named(self.tools, UNKNOWN_TOOL if code == "unknown_tool" else asked.name, OfTool)
        tool.calls += 1
        tool.cached += outcome.cached_from is not None
        tool.duration_ms += outcome.duration_ms
        if code is not None:
            tool.errors[code] = tool.errors.get(code, 0) + 1
        self._spend(asked, outcome.spent_tokens, outcome.spent_usd, outcome.duration_ms)

    def _spend(self, asked: Asked, tokens: int = 0, cost_usd: float = 0.0, duration_ms: int = 0) -> None:
        spent = self._place(asked)
        spent.tokens += tokens
        spent.cost_usd += cost_usd
        spent.duration_ms += duration_ms

    def _place(self, asked: Asked) -> Spent:
        of_role = self.spent.get(asked.role)
        if of_role is None:
            of_role = self.spent[asked.role] = {}
        return _found(of_role, self.subtasks.get(asked.branch, ""), Spent)

    def _opened(self, _recorded: Recorded, event: BranchOpened) -> None:
        if event.subtask is not None:
            self.subtasks[event.branch] = event.subtask

    def _noticed(self, _recorded: Recorded, event: LoopNoticed) -> None:
        self.loops[event.action] = self.loops.get(event.action, 0) + 1

    def _reached(self, _recorded: Recorded, event: LimitReached) -> None:
        self.limits[event.limit] = self.limits.get(event.limit, 0) + 1

    def _forked(self, _recorded: Recorded, _event: RunForked) -> None:
        """What was copied is the original's; branches and calls under way go on here."""
        for counted in (self.models, self.tools, self.spent, self.loops, self.limits):
            counted.clear()

    HEARS: ClassVar[Hears] = {
        ModelRequested: _requested,
        ModelAnswered: _answered,
        ModelFailed: _failed,
        ToolAnswered: _tool_answered,
        BranchOpened: _opened,
        LoopNoticed: _noticed,
        LimitReached: _reached,
        RunForked: _forked,
    }


def as_plain(tally: Tally) -> dict[str, Json]:
    """A tally as a row keeps it."""
    return {"version": VERSION, "figures": to_plain(tally)}


def tally_in(plain: Any) -> Tally:
    """The tally a row has; an empty one, to be made from the first event on, where it has none that can be used."""
    if not isinstance(plain, dict) or plain.get("version") != VERSION:
        return Tally()
    try:
        tally: Tally = from_plain(Tally, plain["figures"])
    except UNREADABLE:
        return Tally()
    return tally


def _named(counted: dict[str, Figures], name: str, begin: type[Figures]) -> Figures:
    found = counted.get(name)
    if found is None:
        found = _found(counted, name if len(counted) < MOST_NAMES else OTHERS, begin)
    return found


def _found(counted: dict[str, Figures], key: str, begin: type[Figures]) -> Figures:
    found = counted.get(key)
    if found is None:
        found = counted[key] = begin()
    return found


def _sum(parts: Iterable[Spent]) -> Spent:
    whole = Spent()
    for part in parts:
        whole.steps += part.steps
        whole.tokens += part.tokens
        whole.cost_usd += part.cost_usd
        whole.duration_ms += part.duration_ms
    return whole
