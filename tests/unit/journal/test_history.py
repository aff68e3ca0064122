"""From rows to events: what is newer, older or damaged is said, never guessed."""

from datetime import UTC, datetime

import pytest

from outlast.domain.errors import Broken
from outlast.domain.events import Recorded, Said
from outlast.journal import upcast as upcasting
from outlast.journal.history import recorded_from, row_of
from outlast.ports.stream import EventRow
from tests.law import law

AT = datetime(2026, 1, 1, tzinfo=UTC)


def row(kind: str = "Said", version: int = 1, body: str = '{"by":"ann","text":"hi"}') -> EventRow:
    return EventRow(1, kind, version, AT, body)


def code_of(*rows: EventRow) -> str:
    with pytest.raises(Broken) as caught:
        recorded_from(rows, {})
    assert caught.value.next_step
    return caught.value.code


def test_a_row_is_read_as_it_was_written() -> None:
    recorded = Recorded(1, AT, Said("ann", "hi"))
    written, payloads = row_of(recorded)
    assert recorded_from([written], payloads) == [recorded]


@law("RUN-7.c")
@pytest.mark.parametrize("newer", [row(kind="Dreamt"), row(version=2)])
def test_what_a_newer_program_wrote_is_called_newer(newer: EventRow) -> None:
    assert code_of(newer) == "journal_newer"


@pytest.mark.parametrize(
    "damaged", [row(body="{"), row(body='{"by":"ann"}'), row(version=0), row(version=-1)]
)
def test_what_nobody_wrote_is_called_damaged(damaged: EventRow) -> None:
    assert code_of(damaged) == "journal_damaged"


@law("RUN-7.c")
def test_an_old_version_is_brought_forward_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Said, "VERSION", 3)
    monkeypatch.setitem(upcasting.STEPS, ("Said", 1), lambda fields: {**fields, "who": fields["from"]})
    monkeypatch.setitem(
        upcasting.STEPS, ("Said", 2), lambda fields: {"by": fields["who"], "text": fields["text"]}
    )
    found = recorded_from([row(body='{"from":"ann","text":"hi"}')], {})
    assert found[0].event == Said("ann", "hi")


def test_an_old_row_that_its_step_cannot_read_is_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Said, "VERSION", 2)
    monkeypatch.setitem(upcasting.STEPS, ("Said", 1), lambda fields: {"by": fields["from"], "text": "x"})
    assert code_of(row()) == "journal_damaged"
