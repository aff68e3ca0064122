"""Every journal that was ever released is still read, and folds to what it folded to then."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.apply import apply, fold
from outlast.domain.events import KINDS
from outlast.journal.fold import fold_checked, resumed
from outlast.journal.history import recorded_from
from outlast.journal.snapshot import is_comparable, snapshot_of, state_in
from outlast.ports.stream import SnapshotRow
from outlast.runs.cache import Cache
from outlast.runs.ledger import Ledger
from outlast.runs.readings import read_all
from outlast.runs.remembering.extraction import Worth
from outlast.runs.tally import Tally
from tests.golden.book import known_of, paths, read
from tests.golden.scenarios import SCENARIOS
from tests.law import law


@law("RUN-7.c", "RUN-7.d")
@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_a_golden_journal_folds_to_what_it_folded_to_when_it_was_written(path: Path) -> None:
    book = read(path)
    history = recorded_from(book.rows, book.payloads)
    readings = read_all(book.known["run_id"], history, lambda messages, tools: len(messages))
    found = json.loads(json.dumps(known_of(readings.state)))
    if not is_comparable(book.known["digest"]):
        found.pop("digest"), book.known.pop("digest")
    assert found == book.known
    assert not readings.divergences
    assert all(conversation.messages for conversation in readings.conversations._by_branch.values())


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_a_golden_journals_state_survives_its_snapshot(path: Path) -> None:
    book = read(path)
    state = read_all(
        book.known["run_id"], recorded_from(book.rows, book.payloads), lambda messages, tools: 1
    ).state
    snapshot = snapshot_of(state)
    assert state_in(SnapshotRow(snapshot.position, snapshot.fold_version, snapshot.body)) == state


@law("RUN-2.b")
@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_a_golden_journal_is_resumed_alike_from_a_snapshot_at_any_position(path: Path) -> None:
    book = read(path)
    run_id, history = book.known["run_id"], recorded_from(book.rows, book.payloads)
    whole = fold_checked(run_id, history)
    state = fold(run_id, history[:1])
    for recorded in [None, *history[1:]]:
        state = state if recorded is None else apply(state, recorded)
        assert resumed(run_id, history, state) == whole


@pytest.mark.parametrize("name", ["ledger", "cache", "tally", "worth"])
def test_a_reading_among_others_keeps_what_it_keeps_by_itself(name: str) -> None:
    makes = {"ledger": Ledger, "cache": Cache, "tally": Tally, "worth": Worth}
    has_kept = False
    for path in paths():
        book = read(path)
        history = recorded_from(book.rows, book.payloads)
        together = getattr(read_all(book.known["run_id"], history, lambda messages, tools: 1), name)
        alone = makes[name]()
        for recorded in history:
            alone.fold(recorded)
        assert kept_in(together) == kept_in(alone), path.stem
        has_kept |= kept_in(alone) != kept_in(makes[name]())
    assert has_kept


def kept_in(reading: Ledger | Cache | Tally | Worth) -> dict[str, Any]:
    """Everything a reading keeps."""
    return asdict(reading) if isinstance(reading, Tally | Worth) else vars(reading)


def test_every_kind_of_event_is_in_a_golden_journal_in_its_present_version() -> None:
    kept = {(row.kind, row.version) for path in paths() for row in read(path).rows}
    missing = sorted(name for name, kind in KINDS.items() if (name, kind.VERSION) not in kept)
    assert not missing, (
        f"write a scenario with {missing} in tests/golden/scenarios.py, then run `just golden`"
    )


def test_every_scenario_was_written_and_no_released_journal_is_gone() -> None:
    written = {path.stem for path in paths()}
    assert written >= set(SCENARIOS), "run `just golden`"
    assert len(written) >= len(SCENARIOS)


def test_a_spoiled_digest_is_found_where_it_was_recorded() -> None:
    book = read(next(path for path in paths() if path.stem == "research_diverged"))
    spoiled = [one for one in book.rows if one.kind == "StateEntered" and '"digest":"1:spoilt-' in one.body]
    noticed = [json.loads(one.body)["position"] for one in book.rows if one.kind == "FoldDiverged"]
    assert noticed == [one.position for one in spoiled]
