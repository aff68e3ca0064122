"""Where a person must agree: tickets for calls, transitions and points."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.errors import CallerMistake, Conflict, NotFound
from outlast.domain.events import (
    ApprovalAsked,
    Approved,
    Rejected,
    TicketExpired,
    TicketVoided,
)
from outlast.domain.task import ApprovalRule
from outlast.journal.upcast import READER
from outlast.ports.tool import tool
from outlast.service import signals
from outlast.testing.clock import FakeClock
from tests.law import law
from tests.unit.runs.parts import (
    ask_for,
    call,
    in_turn,
    results,
    say,
)
from tests.unit.runs.props import SENT, mail
from tests.unit.runs.stage import Stage, staged

MAILS = (ApprovalRule(tool="mail"),)


@pytest.fixture(autouse=True)
def _nothing_sent() -> None:
    SENT.clear()


def problems(name: str, arguments: dict[str, Any]) -> list[str]:
    return [] if set(arguments) == {"to"} else ["to: expected a string (required), got nothing"]


async def tickets(stage: Stage, run: str) -> dict[str, str]:
    """The open tickets of calls by what they would mail to."""
    return {asked.shown["arguments"]["to"]: asked.ticket for asked in await stage.events(run, ApprovalAsked)}


@law("RUN-8.b", "RUN-8.e", "RUN-8.g")
async def test_g06_01_each_call_has_a_ticket_of_its_own(tmp_path: Path) -> None:
    model = in_turn(ask_for(call("mail", to="ann"), call("mail", to="bob")), say("done"))
    async with staged(tmp_path, model, mail, approvals=MAILS) as stage:
        run = await stage.play()
        state = await stage.state(run)
        assert state.state == "WAITING"
        assert len(state.open_tickets()) == 2
        named = await tickets(stage, run)
        with pytest.raises(Conflict) as several:
            await signals.approve(stage.store, run, "eve")
        assert several.value.code == "which_ticket"
        await signals.approve(stage.store, run, "eve", named["bob"])
        await stage.work(run)
        assert SENT == ["bob"]
        assert [ticket.id for ticket in (await stage.state(run)).open_tickets()] == [named["ann"]]
        await signals.reject(stage.store, run, "eve", named["ann"])
        await stage.work(run)
        assert SENT == ["bob"]
        assert (await stage.state(run)).outcome == "full"
        assert [approved.by for approved in await stage.events(run, Approved, Rejected)] == ["eve", "eve"]


@law("RUN-8.i")
async def test_g06_03_an_edited_call_runs_as_edited_and_says_so_and_is_asked_for_anew(tmp_path: Path) -> None:
    model = in_turn(ask_for(call("mail", to="all")), ask_for(call("mail", to="all")), say("done"))
    async with staged(tmp_path, model, mail, approvals=MAILS) as stage:
        run = await stage.play()
        with pytest.raises(CallerMistake, match="do not fit mail"):
            await signals.approve(stage.store, run, "eve", edit={"too": "ann"}, check=problems)
        await signals.approve(stage.store, run, "eve", edit={"to": "ann"}, check=problems)
        await stage.work(run)
        assert SENT == ["ann"]
        heard = stage.requests[1]
        assert heard.messages[2].tool_calls[0].arguments == {"to": "all"}
        told = results(heard)[0].text
        assert 'What ran: {"to": "ann"}' in told.rpartition("<<end")[2]
        assert (await stage.state(run)).state == "WAITING"
        assert len((await stage.state(run)).open_tickets()) == 1


@law("RUN-8.j")
async def test_a_rejection_reaches_the_model_with_its_comment(tmp_path: Path) -> None:
    async with staged(
        tmp_path, in_turn(ask_for(call("mail", to="ann")), say("done")), mail, approvals=MAILS
    ) as stage:
        run = await stage.play()
        await signals.reject(stage.store, run, "eve", comment="ask me first")
        await stage.work(run)
        assert SENT == []
        error = (await stage.outcomes(run))[0].error
        assert error is not None
        assert error.code == "rejected"
        assert "ask me first" in results(stage.requests[-1])[0].text


@law("RUN-8.h")
async def test_g06_05_a_ticket_waits_for_ever_or_expires_which_is_no_rejection(tmp_path: Path) -> None:
    clock = FakeClock()
    rules = (ApprovalRule(tool="mail", expires_seconds=600),)
    model = in_turn(ask_for(call("mail", to="ann")), say("done"))
    async with staged(tmp_path, model, mail, approvals=rules, store=SqliteStore(None, clock=clock)) as stage:
        run = await stage.play()
        entry = await stage.store.read_entry("runs", run)
        asked = (await stage.events(run, ApprovalAsked))[0]
        assert entry is not None
        assert entry.until is None
        assert entry.due_at == asked.expires_at
        clock.advance(601)
        await stage.work(run)
        assert len(await stage.events(run, TicketExpired)) == 1
        error = (await stage.outcomes(run))[0].error
        assert error is not None
        assert error.code == "expired"
        assert SENT == []
        with pytest.raises(Conflict, match="expired before anybody decided"):
            await signals.approve(stage.store, run, "eve", asked.ticket)


async def test_g06_05_a_late_click_resumes_a_run_whose_ticket_does_not_expire(tmp_path: Path) -> None:
    clock = FakeClock()
    model = in_turn(ask_for(call("mail", to="ann")), say("done"))
    async with staged(tmp_path, model, mail, approvals=MAILS, store=SqliteStore(None, clock=clock)) as stage:
        run = await stage.play()
        clock.advance(timedelta(days=3).total_seconds())
        await signals.approve(stage.store, run, "eve")
        assert [claim.item for claim in await stage.store.claim("runs", "other", 30.0, reader=READER)] == [
            run
        ]


@law("RUN-8.g")
async def test_g06_06_of_twenty_decisions_one_counts_and_wakes_the_run(tmp_path: Path) -> None:
    model = in_turn(ask_for(call("mail", to="ann")), say("done"))
    async with staged(tmp_path, model, mail, approvals=MAILS) as stage:
        run = await stage.play()
        ticket = (await stage.state(run)).open_tickets()[0].id
        decisions = [
            signals.approve(stage.store, run, f"p{number}", ticket)
            if number % 2
            else signals.reject(stage.store, run, f"p{number}", ticket)
            for number in range(20)
        ]
        came = await asyncio.gather(*decisions, return_exceptions=True)
        refused = [one for one in came if isinstance(one, BaseException)]
        assert len(refused) == 19
        recorded = await stage.events(run, Approved, Rejected)
        assert len(recorded) == 1
        word = "approved" if isinstance(recorded[0], Approved) else "rejected"
        for one in refused:
            assert isinstance(one, Conflict)
            assert one.code == "ticket_decided"
            assert f"was {word} by {recorded[0].by}" in one.detail
        entry = await stage.store.read_entry("runs", run)
        assert entry is not None
        assert entry.due_at is not None
        await stage.work(run)
        assert len(SENT) == (word == "approved")
        with pytest.raises(Conflict, match=f"was {word} by"):
            await signals.approve(stage.store, run, "late", ticket)
        with pytest.raises(NotFound):
            await signals.approve(stage.store, run, "late", "a00000000")


@law("RUN-8.d")
async def test_g06_08_a_tool_that_changed_while_waiting_is_asked_for_anew(tmp_path: Path) -> None:
    model = in_turn(ask_for(call("mail", to="ann")), say("done"))
    async with staged(tmp_path, model, mail, approvals=MAILS) as stage:
        run = await stage.play()

        @tool(name="mail", effect="once")
        async def other(to: str, subject: str = "") -> str:
            """Send a mail with a subject."""
            SENT.append(f"{to} {subject}")
            return "sent"

        stage.cast([other])
        await signals.approve(stage.store, run, "eve")
        await stage.work(run)
        assert SENT == []
        first, second = await stage.events(run, ApprovalAsked)
        assert first.shown["version"] != second.shown["version"]
        assert [void.ticket for void in await stage.events(run, TicketVoided)] == [first.ticket]
        assert (await stage.state(run)).state == "WAITING"
        await signals.approve(stage.store, run, "eve")
        await stage.work(run)
        assert SENT == ["ann "]
        assert (await stage.state(run)).outcome == "full"
        assert len(stage.requests) == 2


async def test_g06_08_arguments_that_do_not_fit_a_changed_tool_are_told_to_the_model(tmp_path: Path) -> None:
    model = in_turn(ask_for(call("mail", to="ann")), say("done"))
    async with staged(tmp_path, model, mail, approvals=MAILS) as stage:
        run = await stage.play()

        @tool(name="mail", effect="once")
        async def other(address: str) -> str:
            """Send a mail."""
            SENT.append(address)
            return "sent"

        stage.cast([other])
        for _ in range(2):
            await signals.approve(stage.store, run, "eve")
            await stage.work(run)
        error = (await stage.outcomes(run))[0].error
        assert error is not None
        assert error.code == "invalid_arguments"
        assert "address" in " ".join(error.problems)
        assert SENT == []
        assert (await stage.state(run)).outcome == "full"


@law("RUN-8.f")
async def test_a_cancelled_run_closes_its_tickets(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(ask_for(call("mail", to="ann"))), mail, approvals=MAILS) as stage:
        run = await stage.play()
        ticket = (await stage.state(run)).open_tickets()[0].id
        await signals.cancel(stage.store, run, "eve", "enough")
        await stage.work(run)
        state = await stage.state(run)
        assert (state.state, state.open_tickets(), SENT) == ("CANCELLED", (), [])
        assert state.failure is not None
        assert state.failure.detail == "enough"
        with pytest.raises(Conflict, match="run ended"):
            await signals.approve(stage.store, run, "eve", ticket)
