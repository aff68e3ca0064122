"""A fork of a run whose tasks are still open: they stay with the original."""

from pathlib import Path

from outlast.domain.events import ToolAnswered
from outlast.domain.ids import LOCAL_USER
from outlast.service.background.verbs import list_tasks
from outlast.service.fork import Branching, fork_run
from outlast.tasks.happenings import Queue
from tests.law import law
from tests.unit.service.background.farm import farming


@law("RUN-9.f")
async def test_tasks_stay_with_the_original_and_are_told_to_its_thread_alone(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        run_id = await hands.stage.play("render it", thread_id="t-1")
        history = await hands.stage.history(run_id)
        begun_at = next(recorded.position for recorded in history if isinstance(recorded.event, ToolAnswered))
        (task,) = await hands.tasks()
        fork = await fork_run(hands.store, Branching(run_id=run_id, at=begun_at, random=bytes(range(40))))
        await hands.stage.work(fork.run_id)
        (same,) = await hands.tasks()
        assert (same.run_id, same.thread_id, same.status) == (run_id, "t-1", task.status)
        assert await list_tasks(hands.store, LOCAL_USER, thread_id=fork.thread_id) == []
        assert await hands.do(Queue.NOTIFY) == 0
