"""What people ask of a run that is there: each appends one signal, whoever works on the run, and wakes its worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from outlast.domain.door import Json, clean_text
from outlast.domain.errors import Broken, CallerMistake, Conflict, NotFound
from outlast.domain.events import (
    Answered,
    AnyEvent,
    ApprovalAsked,
    Approved,
    CancelRequested,
    LimitsChanged,
    PauseRequested,
    Rejected,
    ResumeRequested,
    Said,
    TicketExpired,
    TicketVoided,
)
from outlast.domain.run import Question, RunState, Ticket
from outlast.domain.states import State
from outlast.journal.append import items_to_append, placed
from outlast.journal.fold import load_state
from outlast.journal.history import read_history
from outlast.ports.batch import Committed
from outlast.ports.queue import Enqueue
from outlast.ports.run_rows import RunFilter
from outlast.ports.store import Store
from outlast.runs.limits import LIMIT_NAMES

MAX_RACES: Final = 50

MOST_PINNED_CHARACTERS: Final = 2000
"""How long a pin may be: it is part of every context from then on."""

Check = Callable[[str, dict[str, Json]], list[str]]
"""Given a tool's name and arguments, what is wrong with them."""

_LONG_INTEGER_CHARACTERS: Final = 16
"""How long integers are that browsers cannot hold exactly."""


async def pause(store: Store, run_id: str, by: str) -> RunState:
    """Ask a run to pause: calls in flight end, no new one begins."""
    return await _signal(store, run_id, lambda state: _unless_ended(state, PauseRequested(by)))


async def resume(store: Store, run_id: str, by: str) -> RunState:
    """Ask a paused or failed run to go on. A run that works or waits is only woken; one that has ended for good is left alone.

    Raises Conflict (`thread_busy`) for a failed run whose thread has another active run.
    """
    await _thread_must_be_free(store, await load_state(store, run_id))

    def decide(state: RunState) -> AnyEvent | None:
        if state.state in (State.COMPLETED, State.CANCELLED):
            return None
        return ResumeRequested(by)

    return await _signal(store, run_id, decide)


async def cancel(store: Store, run_id: str, by: str, reason: str = "") -> RunState:
    """Ask a run to end now; calls in flight are killed."""
    return await _signal(
        store, run_id, lambda state: _unless_ended(state, CancelRequested(by, clean_text(reason)))
    )


async def say(store: Store, run_id: str, by: str, text: str, *, pin: bool = False) -> RunState:
    """Tell a run something; its model hears it before it speaks next.

    With `pin` every conversation of the run is shown it, also those that are opened later. Raises CallerMistake
    (`pin_too_long`).
    """
    words = _words(text)
    if pin and len(words) > MOST_PINNED_CHARACTERS:
        detail = f"A pin has at most {MOST_PINNED_CHARACTERS} characters; this one has {len(words)}."
        raise CallerMistake("pin_too_long", detail, "Pin a shorter text, or say it without a pin.")
    return await _signal(store, run_id, lambda state: _unless_ended(state, Said(by, words, pin)))


async def answer(store: Store, run_id: str, by: str, text: str, question: str | None = None) -> RunState:
    """Answer the open question of a run, or the one named. Raises Conflict (`which_question`, `no_question`)."""
    words = _words(text)

    def decide(state: RunState) -> AnyEvent:
        return Answered(by, _open_question(state, question).id, words)

    return await _signal(store, run_id, decide)


async def approve(
    store: Store,
    run_id: str,
    by: str,
    ticket: str | None = None,
    edit: dict[str, Json] | None = None,
    check: Check | None = None,
) -> RunState:
    """Agree to the open ticket of a run, or the one named, perhaps with other arguments for the call it is about.

    Raises Conflict (`which_ticket`, `no_ticket`, `ticket_decided` with what was decided), NotFound (`unknown_ticket`) and
    CallerMistake (`bad_edit`).
    """

    def decide(state: RunState) -> AnyEvent:
        found = _open_ticket(state, ticket)
        meant = None if edit is None else _checked_edit(state, found, edit, check)
        return Approved(by, found.id, meant)

    return await _decision(store, run_id, ticket, decide)


async def reject(
    store: Store, run_id: str, by: str, ticket: str | None = None, comment: str = ""
) -> RunState:
    """Refuse the open ticket of a run, or the one named; the comment reaches the model. Raises Conflict as `approve` does."""
    words = clean_text(comment)
    return await _decision(
        store, run_id, ticket, lambda state: Rejected(by, _open_ticket(state, ticket).id, words)
    )


async def set_limits(store: Store, run_id: str, by: str, changes: dict[str, Json]) -> RunState:
    """Change limits of a run. Raises CallerMistake (`unknown_limit`, `bad_limit`)."""
    for name, value in changes.items():
        _check_limit(name, value)
    return await _signal(store, run_id, lambda state: _unless_ended(state, LimitsChanged(by, changes)))


async def _signal(store: Store, run_id: str, decide: Callable[[RunState], AnyEvent | None]) -> RunState:
    """Append what is decided on the present state, and again on a newer one when somebody was faster."""
    for _ in range(MAX_RACES):
        state = await load_state(store, run_id)
        event = decide(state)
        if event is None:
            return state
        now = await store.now()
        items = items_to_append(run_id, placed([event], state.position, now), None)
        due = Enqueue("runs", run_id, now, state.user_id, state.definition.name)
        if isinstance(await store.commit([*items, due]), Committed):
            return state
    raise Broken(
        "store_contended",
        f"The journal of {run_id} grew faster than a signal could be appended.",
        "Try again.",
    )


async def _decision(
    store: Store, run_id: str, ticket: str | None, decide: Callable[[RunState], AnyEvent]
) -> RunState:
    """Append a decision; for a ticket that is not open any more, say what became of it."""
    try:
        return await _signal(store, run_id, decide)
    except (NotFound, Conflict) as refused:
        became = await _what_became_of(store, run_id, ticket) if ticket is not None else None
        if became is None:
            raise
        detail = f"The ticket {ticket} {became}."
        raise Conflict("ticket_decided", detail, f"See `outlast show {run_id}`.") from refused


async def _what_became_of(store: Store, run_id: str, ticket: str) -> str | None:
    """What the journal says of a ticket, in words; None when it was never opened."""
    became = None
    for recorded in await read_history(store, run_id):
        match recorded.event:
            case ApprovalAsked(ticket=name) if name == ticket:
                became = "is closed, since its run ended"
            case Approved(ticket=name, by=by) if name == ticket:
                became = f"was approved by {by} already"
            case Rejected(ticket=name, by=by) if name == ticket:
                became = f"was rejected by {by} already"
            case TicketExpired(ticket=name) if name == ticket:
                became = "expired before anybody decided"
            case TicketVoided(ticket=name, reason=reason) if name == ticket:
                became = f"is void: {reason}"
            case _:
                pass
    return became


async def _thread_must_be_free(store: Store, state: RunState) -> None:
    """Refuse to make a run active again beside another of its thread."""
    if state.state is not State.FAILED:
        return
    for row in await store.list_runs(RunFilter(thread_id=state.thread_id)):
        if row.is_active and row.run_id != state.run_id:
            detail = f"The thread {state.thread_id} has the active run {row.run_id}."
            raise Conflict("thread_busy", detail, "Wait for it or cancel it, then resume.")


def _unless_ended(state: RunState, event: AnyEvent) -> AnyEvent:
    if state.has_ended:
        detail = f"{state.run_id} has ended ({state.state})."
        raise Conflict("run_ended", detail, f"See it with `outlast show {state.run_id}`.")
    return event


def _words(text: str) -> str:
    if not text.strip():
        raise CallerMistake(
            "empty_text", "There is nothing to say in an empty text.", "Give the text as an argument."
        )
    return clean_text(text)


def _open_ticket(state: RunState, name: str | None) -> Ticket:
    tickets = state.open_tickets()
    if name is not None:
        known = state.tickets.get(name)
        if known is None:
            raise NotFound("unknown_ticket", f"{state.run_id} has no ticket {name}.", _listed(state))
        if known.status != "open":
            raise Conflict("ticket_decided", f"The ticket {name} was {known.status} already.", _listed(state))
        return known
    if not tickets:
        raise Conflict(
            "no_ticket", f"{state.run_id} waits for no approval.", f"See `outlast show {state.run_id}`."
        )
    if len(tickets) > 1:
        raise Conflict("which_ticket", f"{len(tickets)} tickets of {state.run_id} are open.", _listed(state))
    return tickets[0]


def _open_question(state: RunState, name: str | None) -> Question:
    questions = state.open_questions()
    if name is not None:
        known = state.questions.get(name)
        if known is None or known.answer is not None:
            detail = f"{state.run_id} has no open question {name}."
            raise NotFound("unknown_question", detail, f"`outlast show {state.run_id}` says what it asks.")
        return known
    if not questions:
        raise Conflict("no_question", f"{state.run_id} asks nothing.", f"See `outlast show {state.run_id}`.")
    if len(questions) > 1:
        names = ", ".join(question.id for question in questions)
        raise Conflict("which_question", f"Several questions are open: {names}.", "Name one with --question.")
    return questions[0]


def _listed(state: RunState) -> str:
    listed = "; ".join(f"{ticket.id} ({ticket.subject})" for ticket in state.open_tickets())
    return f"Open: {listed}. Name one with --ticket." if listed else f"See `outlast show {state.run_id}`."


def _checked_edit(
    state: RunState, ticket: Ticket, edit: dict[str, Json], check: Check | None
) -> dict[str, Json]:
    """The arguments that are meant by an edit, if the call can be made with them."""
    call = state.calls.get(ticket.subject.removeprefix("call:"))
    if call is None:
        raise CallerMistake(
            "bad_edit",
            f"The ticket {ticket.id} is about no tool call; there is nothing to edit.",
            "Approve it as it is, or reject it with a comment.",
        )
    meant = {name: _as_asked(value, call.call.arguments.get(name)) for name, value in edit.items()}
    problems = check(call.call.name, meant) if check is not None else []
    if problems:
        raise CallerMistake(
            "bad_edit",
            f"These arguments do not fit {call.call.name}: {'; '.join(problems)}.",
            "Correct them.",
        )
    return meant


def _as_asked(value: Json, asked: Json) -> Json:
    """A value of an edit; a long integer that comes back as text, as browsers are shown it, is what it was."""
    if isinstance(value, dict) and isinstance(asked, dict):
        return {name: _as_asked(item, asked.get(name)) for name, item in value.items()}
    if isinstance(value, list) and isinstance(asked, list):
        return [_as_asked(item, asked[at] if at < len(asked) else None) for at, item in enumerate(value)]
    is_the_same = type(asked) is int and value == str(asked) and len(value) >= _LONG_INTEGER_CHARACTERS
    return asked if is_the_same else value


def _check_limit(name: str, value: Json) -> None:
    if name not in LIMIT_NAMES:
        raise CallerMistake(
            "unknown_limit", f"There is no limit {name!r}.", f"Limits: {', '.join(LIMIT_NAMES)}."
        )
    if value is None and name in ("max_tokens_total", "max_cost_usd"):
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise CallerMistake(
            "bad_limit", f"{name} must be a number of at least 0, not {value!r}.", "Give a number."
        )
    if name in ("max_steps", "max_replans", "max_tokens_total") and not isinstance(value, int):
        raise CallerMistake(
            "bad_limit", f"{name} must be a whole number, not {value!r}.", "Give a whole number."
        )
