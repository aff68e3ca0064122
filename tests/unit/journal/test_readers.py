"""Readers: which kinds of events each understands, so that a worker that does not know one leaves its run to others."""

from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.events import KINDS
from outlast.journal.upcast import READER
from outlast.ports.batch import Committed
from outlast.ports.provider import ModelAnswer
from outlast.ports.run_rows import UpdateRun
from outlast.testing.faults import Crash
from tests.law import law
from tests.unit.runs.parts import say
from tests.unit.runs.stage import staged

ADDED = {
    1: (
        *(
            "Answered",
            "ApprovalAsked",
            "Approved",
            "BranchOpened",
            "CancelRequested",
            "ContextFolded",
            "FoldDiverged",
            "HookRan",
        ),
        *(
            "HookRequested",
            "LimitReached",
            "LimitsChanged",
            "LoopNoticed",
            "ModelAnswered",
            "ModelFailed",
            "ModelRequested",
        ),
        *(
            "PauseRequested",
            "PlanMade",
            "PlanRefused",
            "QuestionAsked",
            "Rejected",
            "ReportWritten",
            "ResumeRequested",
        ),
        *(
            "RunClaimed",
            "RunForked",
            "RunReleased",
            "RunStarted",
            "Said",
            "StateEntered",
            "SubtaskConcluded",
            "SubtaskDropped",
        ),
        *(
            "SubtaskReviewed",
            "SubtaskStarted",
            "TicketExpired",
            "TicketVoided",
            "Told",
            "ToolAnswered",
            "ToolRequested",
        ),
        *("ToolUnsettled", "ValueSet"),
    ),
    2: (
        *(
            "ContextCrowded",
            "ContextSummarised",
            "EndAwaited",
            "MemoryRecalled",
            "MessageReceived",
            "MessageSent",
            "RecallFailed",
        ),
        *("RecallRequested", "TaskReported", "TasksShown", "ToolsChanged", "TurnTaken"),
    ),
    3: ("ShadowCompared",),
}
"""The kinds of events that each reader added, a later version of a kind as `Kind.2`; what is released is never changed here."""


def test_every_kind_of_event_came_with_a_reader_of_its_own() -> None:
    known = {
        name if kind.VERSION == 1 else f"{name}.{version}"
        for name, kind in KINDS.items()
        for version in range(1, kind.VERSION + 1)
    }
    added = [name for names in ADDED.values() for name in names]
    assert max(ADDED) == READER
    assert sorted(added) == sorted(known), (
        "raise READER in journal/upcast.py and say here what the new reader adds"
    )


@law("RUN-7.d")
async def test_a_run_that_an_older_program_began_is_left_to_newer_ones_from_the_claim_of_a_newer_one_on(
    tmp_path: Path,
) -> None:
    seen: list[int] = []

    async def model(request: object) -> ModelAnswer:
        row = await stage.store.read_run(run)
        assert row is not None
        seen.append(row.min_reader)
        if len(seen) == 1:
            older = UpdateRun(
                run, row.state, row.is_active, row.outcome, row.updated_at, row.summary, READER - 1
            )
            assert isinstance(await stage.store.commit([older]), Committed)
            raise Crash
        return say("Yes.")

    async with staged(tmp_path, model) as stage:
        run = await stage.start()
        with pytest.raises(Crash):
            await stage.work(run)
        assert isinstance(stage.store, SqliteStore)
        await stage.store.expire_lease("runs", run)
        await stage.work(run)
        assert seen == [READER, READER], "it was raised before anything was done"
