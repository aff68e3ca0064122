"""Where a person must agree before a run goes on: on transitions, on tool calls, at named points.

An approval is a ticket: for one subject, bound to the digest of what was shown, used once. When what it was shown for
has changed, the ticket is void and a new one is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from enum import Enum

from outlast.domain.apply_tooling import call_subject
from outlast.domain.commands import Command, Record
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, canonical_json, digest_of
from outlast.domain.events import ApprovalAsked, TicketExpired, TicketVoided
from outlast.domain.run import Call, RunState, Ticket
from outlast.domain.task import ApprovalRule


class Gate(Enum):
    """What a gate says: go on, wait for a person, or turn back."""

    OPEN = "open"
    WAIT = "wait"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Passage:
    """The answer of a gate, the commands it needs, and the ticket that decided."""

    gate: Gate
    commands: tuple[Command, ...] = ()
    ticket: Ticket | None = None


OPEN = Passage(Gate.OPEN)


def tool_passage(state: RunState, call: Call, now: datetime) -> Passage:
    """May this tool call run?"""
    if not state.definition.approvals:
        return OPEN
    rule = _rule(state, lambda rule: rule.tool == call.call.name)
    if rule is None:
        return OPEN
    tool = state.tools.get(call.call.name)
    shown: Json = {
        "tool": call.call.name,
        "arguments": call.call.arguments,
        "effect": str(tool.effect) if tool else None,
        "version": tool.version if tool else None,
        "attempt": call.attempt,
    }
    return _passage(state, rule, call_subject(call.call.id), shown, now)


def transition_passage(state: RunState, arrow: str, shown: Json, now: datetime) -> Passage:
    """May the run take this transition, written `A->B`?"""
    rule = _rule(state, lambda rule: rule.on == arrow)
    return OPEN if rule is None else _passage(state, rule, f"{arrow}@{state.entered_position}", shown, now)


def point_passage(state: RunState, point: str, occasion: str, shown: Json, now: datetime) -> Passage:
    """May the run go on from a named point? `occasion` tells this time from others."""
    rule = _rule(state, lambda rule: rule.on == point)
    return OPEN if rule is None else _passage(state, rule, f"{point}@{occasion}", shown, now)


def expired_tickets(state: RunState, now: datetime) -> list[Command]:
    """Close the open tickets whose time is over."""
    if not state.tickets:
        return []
    return [
        Record(TicketExpired(ticket.id))
        for ticket in state.open_tickets()
        if ticket.expires_at is not None and ticket.expires_at <= now
    ]


def void_all(tickets: Sequence[Ticket], reason: str) -> list[Command]:
    """Close tickets whose subject is gone."""
    return [Record(TicketVoided(ticket.id, reason)) for ticket in tickets]


def refusal_in_words(ticket: Ticket) -> str:
    """Why a ticket turned something back: what a person said, or that nobody decided."""
    if ticket.status == "expired":
        return "its approval expired; nobody decided in time"
    return f"a person refused it: {ticket.comment or 'no reason was given'}"


def _rule(state: RunState, wanted: Callable[[ApprovalRule], bool]) -> ApprovalRule | None:
    for rule in state.definition.approvals:
        if wanted(rule):
            return rule
    return None


def _passage(state: RunState, rule: ApprovalRule, subject: str, shown: Json, now: datetime) -> Passage:
    digest = digest_of(canonical_json(shown))
    ticket = next((ticket for ticket in state.tickets.values() if ticket.subject == subject), None)
    if ticket is not None and ticket.digest != digest:
        stale = Record(TicketVoided(ticket.id, "what it was shown for has changed"))
        return Passage(Gate.WAIT, (stale, *_asked(state, rule, subject, shown, digest, now)))
    if ticket is None:
        return Passage(Gate.WAIT, _asked(state, rule, subject, shown, digest, now))
    if ticket.status == "open":
        return Passage(Gate.WAIT)
    return Passage(Gate.OPEN if ticket.status == "approved" else Gate.REFUSED, (), ticket)


def _asked(
    state: RunState, rule: ApprovalRule, subject: str, shown: Json, digest: str, now: datetime
) -> tuple[Command, ...]:
    expires_at = None if rule.expires_seconds is None else now + timedelta(seconds=rule.expires_seconds)
    ticket = f"a{digest_of(f'{subject} {digest} {state.position}')[:8]}"
    asked = ApprovalAsked(ticket=ticket, subject=subject, digest=digest, shown=shown, expires_at=expires_at)
    return (Record(asked),)
