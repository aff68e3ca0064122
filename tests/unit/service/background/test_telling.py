"""From a call to the word that its work is done: in one thread, once, by the thread's own agent."""

from pathlib import Path

from outlast.domain.background import TaskStatus
from outlast.domain.notification import Notification
from outlast.journal.thread import read_thread_words
from outlast.ports.run_rows import RunFilter
from outlast.tasks.happenings import Queue
from tests.unit.service.background.farm import SECRET, farming
from tests.unit.tasks.remote import DONE


async def test_a_call_becomes_a_task_and_its_end_is_told_once_in_its_thread(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        run_id = await hands.stage.play("render it", thread_id="t-1")
        outcome = (await hands.stage.outcomes(run_id))[0]
        assert outcome.task is not None
        assert SECRET not in outcome.shown
        task = await hands.task()
        assert (task.status, task.remote_id) == (TaskStatus.WORKING, hands.farm.handles[0].remote_id)
        await hands.poll()
        assert await hands.do(Queue.NOTIFY) == 0
        hands.farm.remote.default = DONE
        await hands.poll()
        assert await hands.do(Queue.NOTIFY) == 1
        task = await hands.task()
        assert task.notification is Notification.DISPATCHED
        assert await hands.work_due() == [task.notification_run_id]
        task = await hands.task()
        assert (task.status, task.notification) == (TaskStatus.COMPLETED, Notification.DELIVERED)
        said = [(words.speaker, words.text) for words in await read_thread_words(hands.store, "t-1")]
        assert said == [("user", "render it"), ("assistant", "It goes on."), ("assistant", "It is done.")]
        await hands.poll()
        assert await hands.do(Queue.NOTIFY) == 0
        assert len(await hands.store.list_runs(RunFilter(thread_id="t-1"))) == 2
        asked = hands.stage.requests[-1]
        assert asked.tools == ()
        assert '"result": "done"' in asked.messages[-1].text
        assert SECRET not in str(asked)
