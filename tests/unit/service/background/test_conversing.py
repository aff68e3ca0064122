"""Background tasks in a conversation: known without asking, shown again only when something changed, answered by the user alone."""

from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.execution.validation import problems_in
from outlast.adapters.providers.offline import OfflineProvider
from outlast.adapters.tools.answer_background_task import AnswerBackgroundTask
from outlast.adapters.tools.cancel_background_task import CancelBackgroundTask
from outlast.adapters.tools.list_background_tasks import ListBackgroundTasks
from outlast.domain.background import TaskStatus
from outlast.domain.errors import CallerMistake, Conflict
from outlast.domain.events import ContextFolded, ContextSummarised, TasksShown
from outlast.domain.task import Limits
from outlast.journal.thread import read_thread_words
from outlast.ports.background_driver import Answer, Product, Question, RemoteStatus, Snapshot
from outlast.service.background import verbs
from outlast.tasks.happenings import Queue
from tests.law import law
from tests.unit.runs.parts import ask_for, call, conclude, results, roles, say, subtask_of
from tests.unit.runs.props import page
from tests.unit.service.background.farm import Hands, farming

COLOUR = {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}
ASKS = Snapshot(
    status=RemoteStatus.INPUT_REQUIRED, questions={"q1": Question("form", "Which colour?", COLOUR)}
)


async def asking(hands: Hands) -> None:
    """A task that asks for a colour, and whose thread was told."""
    await hands.stage.play("render it", thread_id="t-1")
    hands.farm.remote.default = ASKS
    await hands.poll()
    await hands.do(Queue.NOTIFY)
    await hands.work_due()


@law("TASK-9.a")
async def test_the_list_of_tasks_is_shown_where_something_changed_since_the_thread_saw_it(
    tmp_path: Path,
) -> None:
    async with farming(tmp_path) as hands:
        first = await hands.stage.play("render it", thread_id="t-1")
        hands.stage.answering = lambda request: say("So.")
        second = await hands.stage.play("hello", thread_id="t-1")
        third = await hands.stage.play("hello again", thread_id="t-1")
        hands.farm.remote.default = Snapshot(status=RemoteStatus.COMPLETED, product=Product("done"))
        await hands.poll()
        fourth = await hands.stage.play("and now?", thread_id="t-1")
        shown = [len(await hands.stage.events(run, TasksShown)) for run in (first, second, third, fourth)]
        assert shown == [0, 1, 0, 1]
        assert '"completed"' in str(hands.stage.requests[-1].messages)
        other = await hands.stage.play("elsewhere", thread_id="t-2")
        assert await hands.stage.events(other, TasksShown) == []


async def test_after_a_compression_it_is_still_known_what_is_done_and_what_is_not(tmp_path: Path) -> None:
    """Ten long pages are read after a task was begun and told of; nothing of the pages is left, all of the tasks is."""

    pages = [ask_for(call("page", url="x" * 900 + str(number))) for number in range(9)]
    steps = iter([ask_for(call("render", scene="b")), *pages, say("Read.")])

    def reading(request: Any) -> Any:
        return next(steps) if any(one.name == "render" for one in request.tools) else say("In short.")

    limits = Limits(max_steps=100)
    async with farming(tmp_path, None, page, context_max_tokens=2500, limits=limits) as hands:
        await hands.stage.play("render it", thread_id="t-1")
        hands.farm.remote.default = Snapshot(status=RemoteStatus.COMPLETED, product=Product("a picture"))
        await hands.poll()
        await hands.do(Queue.NOTIFY)
        await hands.work_due()
        hands.stage.answering = reading
        run_id = await hands.stage.play("read them all", thread_id="t-1")
        assert await hands.stage.events(run_id, ContextFolded, ContextSummarised)
        last = "\n".join(message.text for message in hands.stage.requests[-1].messages)
        done, working = [await hands.task(name) for name in ("render", "render-2")]
        assert f'"id": "{done.task_id}", "name": "render", "status": "completed"' in last
        assert f"'render-2' ({working.task_id}) goes on" in last


@law("TASK-6.c", "TASK-6.d")
async def test_a_user_answers_in_a_turn_and_the_answer_goes_to_the_server_once(tmp_path: Path) -> None:
    async with farming(tmp_path, None, AnswerBackgroundTask) as hands:
        await asking(hands)
        wrong = ask_for(call("answer_background_task", task="render", answer="green"))
        right = ask_for(call("answer_background_task", task="Render", answer="blue"))
        hands.stage.answering = lambda request: (wrong, right, say("Told them."))[len(results(request))]
        run_id = await hands.stage.play("Blue, please.", thread_id="t-1")
        first, second = await hands.stage.outcomes(run_id)
        assert first.error is not None
        assert "does not fit" in first.error.detail
        assert second.ok
        for _ in range(3):
            await hands.poll()
        sent = hands.farm.remote.answers[hands.farm.handles[0].remote_id]
        assert sent == [{"q1": Answer("accept", {"colour": "blue"})}]
        assert (await hands.task()).open_questions == {}


@law("TASK-5.b")
async def test_an_agent_lists_and_cancels_by_name_and_is_told_names_where_there_is_none(
    tmp_path: Path,
) -> None:
    async with farming(tmp_path, None, ListBackgroundTasks, CancelBackgroundTask) as hands:
        await hands.stage.play("render it", thread_id="t-1")
        steps = (
            ask_for(call("list_background_tasks")),
            ask_for(call("cancel_background_task", task="the report")),
            ask_for(call("cancel_background_task", task="Render")),
            say("It will end."),
        )
        hands.stage.answering = lambda request: steps[len(results(request))]
        run_id = await hands.stage.play("Stop it.", thread_id="t-1")
        listed, missed, cancelled = await hands.stage.outcomes(run_id)
        task = await hands.task()
        assert task.task_id in listed.shown
        assert missed.error is not None
        assert f"render ({task.task_id}, began {task.created_at:%Y-%m-%d %H:%M})" in missed.error.detail
        assert '"cancelling"' in cancelled.shown
        assert task.cancel_requested_by == "local"


async def test_nobody_but_a_user_answers(tmp_path: Path) -> None:
    def telling(request: Any) -> Any:
        if request.tools:
            return ask_for(call("render", scene="a")) if not results(request) else say("It goes on.")
        return ask_for(call("answer_background_task", task="render", answer="blue"), text="I answer.")

    async with farming(tmp_path, telling, AnswerBackgroundTask) as hands:
        await asking(hands)
        assert (await hands.task()).open_questions
        assert all(request.tools == () for request in hands.stage.requests[2:])


async def test_the_answer_of_a_person_is_checked_and_may_be_to_decline(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        await asking(hands)
        with pytest.raises(CallerMistake, match="does not fit"):
            await verbs.answer_task(
                hands.store, "local", "render", Answer("accept", {"colour": 3}), problems_in
            )
        with pytest.raises(Conflict, match="asks nothing"):
            await verbs.answer_task(hands.store, "local", "render", "red", problems_in, question="q9")
        shown = await verbs.answer_task(hands.store, "local", "render", Answer("decline"), problems_in)
        assert shown["questions"] == []
        with pytest.raises(Conflict, match="asks nothing"):
            await verbs.answer_task(hands.store, "local", "render", "red", problems_in)


async def test_a_result_is_read_in_parts(tmp_path: Path) -> None:
    async with farming(tmp_path, None, ListBackgroundTasks) as hands:
        await hands.stage.play("render it", thread_id="t-1")
        text = "".join(f"line {number}\n" for number in range(3000))
        hands.farm.remote.default = Snapshot(status=RemoteStatus.COMPLETED, product=Product(text))
        await hands.poll()
        asked = ask_for(call("list_background_tasks", task="render", offset=20_000, limit=100))
        hands.stage.answering = lambda request: say("Read.") if results(request) else asked
        run_id = await hands.stage.play("read it", thread_id="t-1")
        shown = (await hands.stage.outcomes(run_id))[0].shown
        assert text[20_000:20_100].replace("\n", "\\n") in shown
        assert f'"of_characters": {len(text)}' in shown


async def test_a_cancel_is_refused_where_nobody_could_carry_it_out(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        await hands.stage.play("render it", thread_id="t-1")
        hands.farm.remote.can_cancel = False
        with pytest.raises(Conflict, match="no way to"):
            await verbs.cancel_task(hands.store, "local", "render", drivers=hands.farm.remote)
        hands.farm.remote.can_cancel = True
        shown = await verbs.cancel_task(hands.store, "local", "render", drivers=hands.farm.remote)
        assert (shown["status"], shown["actions"]) == ("cancelling", [])
        await verbs.cancel_task(hands.store, "local", "render", drivers=hands.farm.remote)
        hands.farm.remote.default = Snapshot(status=RemoteStatus.COMPLETED, product=Product("done"))
        await hands.poll()
        assert (await hands.task()).status is TaskStatus.COMPLETED, "a result after a cancel is a result"
        with pytest.raises(Conflict, match="has ended"):
            await verbs.cancel_task(hands.store, "local", "render")


async def test_a_model_without_a_network_tells_it_too(tmp_path: Path) -> None:
    async with farming(tmp_path) as hands:
        await hands.stage.play("render it", thread_id="t-1")
        hands.farm.remote.default = Snapshot(
            status=RemoteStatus.COMPLETED, product=Product("The picture shows two boats and a bridge.")
        )
        await hands.poll()
        await hands.do(Queue.NOTIFY)
        offline = OfflineProvider()
        hands.stage.answering = lambda request: offline.answer(request, lambda delta: None)
        await hands.work_due()
        told = (await read_thread_words(hands.store, "t-1"))[-1].text
        assert told == "render: completed.\nThe picture shows two boats and a bridge."


async def test_a_subtask_does_not_answer_for_the_user(tmp_path: Path) -> None:
    def executor(request: Any) -> Any:
        if results(request):
            return conclude(f"{subtask_of(request)} is so.")
        return ask_for(call("answer_background_task", task="render", answer="blue"))

    async with farming(tmp_path, roles(execute=executor), AnswerBackgroundTask, workflow="research") as hands:
        run_id = await hands.stage.play("What is there?", thread_id="t-1")
        refused = [
            outcome.error for outcome in await hands.stage.outcomes(run_id) if outcome.error is not None
        ]
        assert refused
        assert all("Only a user's own turn may answer" in error.detail for error in refused)
