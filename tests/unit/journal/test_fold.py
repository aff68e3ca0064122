"""From a store to a state: snapshots help when they can be used and do no harm when not; what diverged is shown."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.apply import fold
from outlast.domain.errors import NotFound
from outlast.domain.events import (
    AnyEvent,
    FoldDiverged,
    PlanMade,
    Recorded,
    RunStarted,
    Said,
    StateEntered,
    ValueSet,
)
from outlast.domain.evolve import evolve
from outlast.domain.plan import Subtask
from outlast.domain.states import State
from outlast.domain.task import TaskDefinition
from outlast.journal.append import items_to_append, placed
from outlast.journal.fold import explained, load_state, resumed
from outlast.journal.snapshot import snapshot_of, state_digest
from outlast.ports.stream import PutSnapshot
from outlast.runs.readings import Readings, read_all
from outlast.testing.contracts.store.samples import put
from tests.law import law

AT = datetime(2026, 1, 1, tzinfo=UTC)
STARTED = RunStarted(
    thread_id="t",
    user_id="ann",
    input="go",
    definition=TaskDefinition(name="task"),
    tools=(),
    secret="s",
    today="2026-01-01",
)
PLANNED = PlanMade(1, tuple(Subtask(name, f"What of {name}?") for name in ("s1", "s2", "s3")))


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    store = SqliteStore(None)
    await store.open()
    yield store
    await store.close()


def journal(*events: AnyEvent) -> list[Recorded]:
    return [
        Recorded(index, AT + timedelta(seconds=index), event)
        for index, event in enumerate((STARTED, *events), start=1)
    ]


def entering(source: State, target: State, digest: str) -> StateEntered:
    return StateEntered(source, target, digest=digest)


def read(history: list[Recorded]) -> Readings:
    return read_all("r-1", history, lambda messages, tools: 1)


@law("RUN-2.b")
async def test_a_state_is_the_same_by_its_snapshot_and_without_one(store: SqliteStore) -> None:
    events = [
        STARTED,
        PLANNED,
        ValueSet("seen", {"$literally": {"$payload": [1, 1.5]}}),
        Said("ann", "x" * 9000),
    ]
    history = placed(events, 0, AT)
    await put(store, *items_to_append("r-1", history, None))
    whole = await load_state(store, "r-1")
    await put(store, snapshot_of(fold("r-1", history[:3])))
    assert await load_state(store, "r-1") == whole == fold("r-1", history)


@pytest.mark.parametrize(
    "body", ["", "{", "[]", '{"run_id":"r-1"}', '{"position":2,"nonsense":1}', "[" * 99_999]
)
@pytest.mark.parametrize("fold_version", [1, 999])
async def test_a_snapshot_that_cannot_be_used_is_not_used(
    store: SqliteStore, body: str, fold_version: int
) -> None:
    history = placed([STARTED, PLANNED], 0, AT)
    await put(store, *items_to_append("r-1", history, None), PutSnapshot("r-1", 2, fold_version, body))
    assert await load_state(store, "r-1") == fold("r-1", history)


async def test_a_snapshot_of_another_position_than_it_says_is_not_used(store: SqliteStore) -> None:
    history = placed([STARTED, PLANNED], 0, AT)
    lying = snapshot_of(fold("r-1", history[:1]))
    await put(
        store, *items_to_append("r-1", history, None), PutSnapshot("r-1", 2, lying.fold_version, lying.body)
    )
    assert (await load_state(store, "r-1")).plan_revision == 1


async def test_a_run_that_is_not_there_is_not_found(store: SqliteStore) -> None:
    with pytest.raises(NotFound) as caught:
        await load_state(store, "r-none")
    assert caught.value.code == "unknown_run"


@law("RUN-2.d")
def test_a_recorded_digest_that_the_fold_does_not_reach_is_named_once() -> None:
    history = journal(entering(State.INIT, State.PLANNING, f"{state_digest(fold('r-1', journal()))}"))
    assert not read(history).divergences
    spoilt = journal(entering(State.INIT, State.PLANNING, "1:another"))
    found = read(spoilt).divergences
    assert [(one.position, one.recorded) for one in found] == [(2, "1:another")]
    assert not read([*spoilt, Recorded(3, AT, found[0])]).divergences


NOTED = ValueSet("seen", 1)


@law("RUN-2.b")
@pytest.mark.parametrize("taken_after", [1, 2, 3, 4])
def test_a_run_goes_on_from_its_snapshot_and_not_from_its_first_event(taken_after: int) -> None:
    """Wherever the last digest stands: it is compared at its own place."""
    entered = entering(State.INIT, State.PLANNING, state_digest(fold("r-1", journal())))
    history = journal(entered, NOTED, NOTED)
    kept = fold("r-1", history[:taken_after])
    marked = kept if taken_after == 1 else evolve(kept, plan_revision=7)
    state, divergences = resumed("r-1", history, marked)
    assert state == evolve(fold("r-1", history), plan_revision=marked.plan_revision)
    assert not divergences


@law("RUN-2.d")
@pytest.mark.parametrize("taken_after", [1, 2, 3, 4])
def test_a_snapshot_does_not_hide_that_the_last_recorded_digest_is_not_reached(taken_after: int) -> None:
    history = journal(entering(State.INIT, State.PLANNING, "1:another"), NOTED, NOTED)
    marked = evolve(fold("r-1", history[:taken_after]), plan_revision=7)
    state, divergences = resumed("r-1", history, marked)
    assert [one.position for one in divergences] == [2]
    assert state == fold("r-1", history)


def test_a_snapshot_of_another_run_or_of_what_the_journal_does_not_hold_is_not_used() -> None:
    history = journal(NOTED)
    state = fold("r-1", history)
    for strange in (evolve(state, run_id="r-2", plan_revision=7), evolve(state, position=9, plan_revision=7)):
        assert resumed("r-1", history, strange) == (state, [])


def test_a_digest_of_another_fold_version_is_no_divergence() -> None:
    assert not read(journal(entering(State.INIT, State.PLANNING, "0:another"))).divergences


@law("RUN-2.d")
def test_what_differs_is_shown_where_a_snapshot_can_tell() -> None:
    history = journal(entering(State.INIT, State.PLANNING, "1:another"), PLANNED)
    as_it_was = evolve(fold("r-1", history), plan_revision=7)
    found = explained(read(history).divergences, "r-1", history, as_it_was)
    assert [one.difference for one in found] == ["plan_revision: 7 became 1"]
    assert explained([FoldDiverged(2, "a", "b", "")], "r-1", history, None)[0].difference == ""
