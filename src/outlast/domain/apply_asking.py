"""How questions to people change the state of a run."""

from __future__ import annotations

from typing import assert_never

from outlast.domain.events import ApprovalAsked, Asking, QuestionAsked, TicketExpired, TicketVoided
from outlast.domain.evolve import Changes, evolve
from outlast.domain.run import Question, RunState, Ticket


def apply_asking(state: RunState, event: Asking) -> Changes:
    """What changes when a person was asked, or when a ticket came to nothing."""
    match event:
        case ApprovalAsked():
            position, expires_at = state.next_position, event.expires_at
            ticket = Ticket(event.ticket, event.subject, event.digest, position, expires_at=expires_at)
            return {"tickets": {**state.tickets, ticket.id: ticket}}
        case TicketExpired(ticket=name):
            return to_ticket(state, name, status="expired")
        case TicketVoided(ticket=name):
            return {"tickets": {key: ticket for key, ticket in state.tickets.items() if key != name}}
        case QuestionAsked():
            question = Question(event.question, event.text, event.call, event.choices)
            return {"questions": {**state.questions, question.id: question}}
        case _:
            assert_never(event)


def to_ticket(state: RunState, name: str, **changes: object) -> Changes:
    """What changes when one open ticket does; nothing where there is no such ticket or it is decided."""
    ticket = state.tickets.get(name)
    if ticket is None or ticket.status != "open":
        return {}
    return {"tickets": {**state.tickets, name: evolve(ticket, **changes)}}
