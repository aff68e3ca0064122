"""The shadowed steps of one run: each step as it was made, beside what came of its variant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any, Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import canonical_json
from outlast.domain.events import (
    AnyEvent,
    ModelAnswered,
    ModelRequested,
    Recorded,
    RunForked,
    RunStarted,
    ShadowCompared,
    ToolAnswered,
)
from outlast.domain.task import TaskDefinition
from outlast.domain.tool_call import ToolCall

MOST_SHOWN: Final = 240
"""How much of a result an example shows, in characters."""


@dataclass(frozen=True, slots=True)
class Own:
    """What a step itself came to. `seq` is the position of its result; `what` says which step it was."""

    seq: int
    what: str
    shown: str
    tokens: int = 0
    cost_usd: float | None = None
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """A comparison in the journal of a run. `own` is None where the step itself came to nothing; `settings` are those that differ."""

    run_id: str
    seq: int
    at: str
    compared: ShadowCompared
    own: Own | None
    settings: dict[str, Any]

    @property
    def shown(self) -> str:
        """The variant's result, short."""
        return shown(self.compared.result, self.compared.tool_calls)


@dataclass(slots=True)
class _Reading:
    own: dict[str, Own] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    pairs: dict[str, tuple[Recorded, ShadowCompared, dict[str, Any]]] = field(default_factory=dict)


def pairs_in(run_id: str, history: Iterable[Recorded]) -> list[Pair]:
    """The comparisons in a journal, in its order; of several of one call the last. Those before a fork are its original's."""
    read = _Reading()
    for recorded in history:
        _take(read, recorded)
    return [
        Pair(run_id, recorded.position, recorded.at.isoformat(), event, read.own.get(event.call), settings)
        for recorded, event, settings in read.pairs.values()
    ]


def _take(read: _Reading, recorded: Recorded) -> None:
    event: AnyEvent = recorded.event
    match event:
        case ShadowCompared(call=call):
            read.pairs[call] = (recorded, event, read.settings)
        case ModelRequested(call=call, role=role, purpose=purpose):
            read.asked[call] = f"{role}: {purpose}"
        case ModelAnswered(call=call):
            read.own[call] = Own(
                recorded.position,
                read.asked.pop(call, ""),
                shown(event.text, event.tool_calls),
                event.input_tokens + event.output_tokens,
                event.cost_usd,
                event.duration_ms,
            )
            read.asked.update({one.id: _called(one) for one in event.tool_calls})
        case ToolAnswered(call=call, outcome=outcome):
            spent = (outcome.spent_tokens, outcome.spent_usd or None, outcome.duration_ms)
            read.own[call] = Own(recorded.position, read.asked.pop(call, ""), shown(outcome.shown), *spent)
        case RunStarted(definition=definition):
            read.settings = variant_in(definition)
        case RunForked(definition=definition):
            read.settings = variant_in(definition) if definition is not None else read.settings
            read.pairs.clear()
        case _:
            pass


def variant_in(definition: TaskDefinition) -> dict[str, Any]:
    """The settings that differ in the variant of a run, as it is pinned to them; secrets are references."""
    shadow = definition.settings.get("shadow")
    variant = shadow.get("variant") if isinstance(shadow, dict) else None
    return variant if isinstance(variant, dict) else {}


def shown(text: str, calls: Iterable[ToolCall] = ()) -> str:
    """A result, short: the calls that were asked for, else the text."""
    whole = ", ".join(map(_called, calls)) or text
    return whole if len(whole) <= MOST_SHOWN else f"{whole[: MOST_SHOWN - 1]}…"


def _called(call: ToolCall) -> str:
    return f"{call.name} {canonical_json(call.arguments)}"
