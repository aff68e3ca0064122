"""How questions to people change the state of a run."""

from __future__ import annotations

from typing import assert_never

from outlast.domain.events import ApprovalAsked, Asking, QuestionAsked, TicketExpired, TicketVoided
from outlast.domain.evolve import evolve
from outlast.domain.run import Question, RunState, Ticket


def apply_asking(state: RunState, event: Asking) -> RunState:
    """The state after a person was asked, or after a ticket came to nothing."""
    match event:
        case ApprovalAsked():
            ticket = Ticket(
                event.ticket, event.subject, event.digest, state.position, expires_at=event.expires_at
            )
            return evolve(state, tickets={**state.tickets, ticket.id: ticket})
        case TicketExpired(ticket=name):
            return with_ticket(state, name, status="expired")
        case TicketVoided(ticket=name):
            return evolve(
                state, tickets={key: ticket for key, ticket in state.tickets.items() if key != name}
            )
        case QuestionAsked():
            question = Question(event.question, event.text, event.call, event.choices)
            return evolve(state, questions={**state.questions, question.id: question})
        case _:
            assert_never(event)


def with_ticket(state: RunState, name: str, **changes: object) -> RunState:
    """The state with one open ticket changed; unchanged when there is no such ticket or it is decided."""
    ticket = state.tickets.get(name)
    if ticket is None or ticket.status != "open":
        return state
    return evolve(state, tickets={**state.tickets, name: evolve(ticket, **changes)})
