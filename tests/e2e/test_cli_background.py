"""Work in the background over several processes: begun in one, killed in the next, ended in a third, told once."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.ports.background_driver import Question, RemoteStatus, Snapshot
from outlast.ports.task_rows import TaskFilter
from outlast.tasks.codec import task_in
from outlast.tasks.desk import happen
from outlast.tasks.happenings import Polled
from outlast.tasks.rules import Moment, TaskRules
from tests.e2e.command_line import Home
from tests.law import law

BREW = '''
import asyncio, sys
from pathlib import Path
from outlast.tools import tool

@tool(effect="idempotent", background=True)
async def brew(kind: str) -> str:
    """Brew something, which takes a while."""
    with Path("began.txt").open("a") as file:
        file.write("x")
    sys.stderr.write("It begins to brew.\\n")
    sys.stderr.flush()
    while not Path("go").exists():
        await asyncio.sleep(0.05)
    return f"A pot of {kind}."
'''
SCRIPT = """
- when: {contains: Something happened to background work}
  say: Your tea is ready.
- when: {contains: goes on in the background}
  say: It brews.
- call: [{tool: brew, arguments: {kind: tea}}]
"""


@pytest.fixture
def kitchen(home: Home) -> Home:
    home.write(
        "outlast.yaml",
        "llm: {provider: scripted, script: script.yaml}\n"
        "tools: {paths: [tools]}\n"
        "background_tasks: {poll_interval_seconds: 0.2, lease_seconds: 2}\n",
    )
    home.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: [brew]}\n")
    home.write("tools/brew.py", BREW)
    home.write("script.yaml", SCRIPT)
    return home


def test_work_outlives_the_processes_that_begin_it_and_look_after_it(kitchen: Home) -> None:
    done = kitchen.outlast("run", "--task", "talk", "--input", "Tea.", "--thread", "t-1")
    assert (done.code, done.out.strip()) == (0, "It brews.")
    assert "go on under `outlast worker` or `outlast serve`" in done.err
    listed = kitchen.here("tasks", "list", "--json").document
    assert [(one["name"], one["status"]) for one in listed["tasks"]] == [("brew", "working")]

    first = kitchen.start("worker", "--log-level", "INFO")
    first.until("begins to brew")
    first.kill()
    assert kitchen.here("tasks", "show", "BREW", "--json").document["actions"] == ["cancel"]

    kitchen.write("go", "")
    second = kitchen.start("worker", "--log-level", "INFO")
    second.until("given back: ended")
    second.kill()
    third = kitchen.outlast("worker", "--until-idle")
    assert third.code == 0
    shown = kitchen.here("tasks", "show", "brew", "--json").document
    assert shown["status"] == "completed"
    assert shown["result"]["preview"] == "A pot of tea."
    assert shown["notification"]["state"] == "delivered"
    said = kitchen.here("threads", "show", "t-1", "--json").document["messages"]
    assert [message["text"] for message in said] == ["Tea.", "It brews.", "Your tea is ready."]
    assert (kitchen.folder / "began.txt").read_text() == "xx", "it was begun again with the same key"


def test_a_run_stays_for_its_tasks_and_prints_what_was_told(kitchen: Home) -> None:
    kitchen.write("go", "")
    done = kitchen.outlast("run", "--task", "talk", "--input", "Tea.", "--wait-tasks")
    assert (done.code, done.out.split("\n")) == (0, ["It brews.", "Your tea is ready.", ""])
    told = kitchen.outlast("run", "--task", "talk", "--input", "Tea.", "--wait-tasks", "--json")
    assert (told.document["answer"], "Your tea is ready." in told.err) == ("It brews.", True)


INQUIRY = """
- when: {purpose: plan}
  say: {subtasks: [{id: s1, question: "Can tea be had?", depends_on: []}, {id: s2, question: "And milk?", depends_on: []},
                   {id: s3, question: "And sugar?", depends_on: []}]}
- when: {purpose: execute, contains: "A pot of tea."}
  say: {conclusions: [{claim: "Tea can be had.", sources: []}], open_questions: []}
- when: {purpose: execute, contains: "SUBTASK: s1", turn: 0}
  call: [{tool: brew, arguments: {kind: tea}}]
- when: {purpose: [execute, conclude]}
  say: {conclusions: [{claim: "It can be had.", sources: []}], open_questions: []}
- when: {purpose: [review, final_review]}
  say: {verdict: accept, reasons: []}
- when: {purpose: report}
  call: [{tool: write_report, arguments: {title: Tea, summary: "Tea can be had.", sections: [
    {heading: Findings, claims: [{text: "Tea can be had.", conclusions: [s1.1]}]}]}}]
"""


@pytest.fixture
def inquiry(kitchen: Home) -> Home:
    """The kitchen with a research run whose first subtask has tea brewed and waits for it."""
    kitchen.write("tasks/inquiry.yaml", "task: {name: inquiry, workflow: research, tools: [brew]}\n")
    kitchen.write("script.yaml", INQUIRY)
    return kitchen


@law("TASK-4.a")
@pytest.mark.parametrize("as_json", [False, True])
def test_a_research_run_that_waits_for_its_task_is_seen_through_to_its_report(
    inquiry: Home, as_json: bool
) -> None:
    words = ["--json"] if as_json else []
    going = inquiry.start("run", "--task", "inquiry", "--input", "What is there?", "--wait-tasks", *words)
    going.until("waits for background task")
    going.until("begins to brew")
    assert inquiry.here("show", inquiry.run_id(), "--json").document["state"] == "WAITING"
    inquiry.write("go", "")
    done = going.end()
    assert done.code == 0, done.err
    if as_json:
        shown = done.document
        assert (shown["state"], shown["outcome"]) == ("COMPLETED", "partial")
    else:
        assert done.out.startswith("# Tea\n")
        assert done.out.count("Tea (report of") == 0
    assert (inquiry.folder / "began.txt").read_text() == "x"


def test_a_research_run_that_waits_is_left_with_its_task_when_nobody_stays(inquiry: Home) -> None:
    done = inquiry.outlast("run", "--task", "inquiry", "--input", "What is there?")
    assert done.code == 3
    assert "it goes on by itself when that has ended" in done.err
    assert "go on under `outlast worker` or `outlast serve`" in done.err
    inquiry.write("go", "")
    assert inquiry.outlast("worker", "--until-idle").code == 0
    assert inquiry.here("show", inquiry.run_id(), "--json").document["state"] == "COMPLETED"
    assert inquiry.here("report", inquiry.run_id()).out.startswith("# Tea")


def test_the_same_command_stays_for_tasks_of_a_run_that_was_begun_before(kitchen: Home) -> None:
    words = ("run", "--task", "talk", "--input", "Tea.", "--key", "k", "--thread", "t-1")
    assert kitchen.outlast(*words).out == "It brews.\n"
    kitchen.write("go", "")
    assert kitchen.outlast(*words, "--wait-tasks").out == "It brews.\nYour tea is ready.\n"
    assert kitchen.outlast(*words, "--wait-tasks").out == "It brews.\n"


def test_a_research_run_that_waits_is_interrupted_and_goes_on_in_another_process(inquiry: Home) -> None:
    going = inquiry.start("run", "--task", "inquiry", "--input", "What is there?", "--wait-tasks")
    going.until("begins to brew")
    going.signal(signal.SIGINT)
    stopped = going.end()
    assert stopped.code == 130, stopped.err
    assert "background tasks go on under" in stopped.err
    inquiry.write("go", "")
    assert inquiry.outlast("worker", "--until-idle").code == 0
    assert inquiry.here("show", inquiry.run_id(), "--json").document["state"] == "COMPLETED"


def test_a_run_is_taken_to_another_store_with_its_task_which_is_done_and_told_there_alone(
    kitchen: Home,
) -> None:
    here = (kitchen.folder / "outlast.yaml").read_text()
    kitchen.write("there.yaml", here + "harness: {persistence: {path: there.db}}\n")
    kitchen.outlast("run", "--task", "talk", "--input", "Tea.", "--thread", "t-1")
    run_id = kitchen.run_id()
    assert kitchen.here("export", run_id, "--move").code == 2
    assert kitchen.here("export", run_id, "--move", "-o", "run.jsonl").code == 0
    assert kitchen.here("tasks", "show", "brew", "--json").document["status"] == "moved"
    taken = kitchen.here("import", "run.jsonl", "--config", "there.yaml", "--json").document
    assert (taken["is_new"], taken["tasks"]) == (True, 1)
    kitchen.write("go", "")
    assert kitchen.outlast("worker", "--until-idle").code == 0
    assert not (kitchen.folder / "began.txt").exists()
    assert kitchen.outlast("worker", "--until-idle", "--config", "there.yaml").code == 0
    told = kitchen.here("threads", "show", "t-1", "--config", "there.yaml", "--json").document["messages"]
    assert [message["text"] for message in told] == ["Tea.", "It brews.", "Your tea is ready."]
    left = kitchen.here("threads", "show", "t-1", "--json").document["messages"]
    assert [message["text"] for message in left] == ["Tea.", "It brews."]
    again = kitchen.here("import", "run.jsonl", "--config", "there.yaml")
    assert (again.code, "nothing was changed" in again.err) == (0, True)


@law("TASK-5.d")
def test_a_cancel_ends_the_work_where_it_is_done(kitchen: Home) -> None:
    kitchen.outlast("run", "--task", "talk", "--input", "Tea.", "--thread", "t-1")
    worker = kitchen.start("worker", "--log-level", "INFO")
    worker.until("begins to brew")
    assert kitchen.here("tasks", "cancel", "brew").code == 0
    worker.until("given back: ended")
    assert kitchen.here("tasks", "show", "brew", "--json").document["status"] == "cancelled"
    again = kitchen.here("tasks", "cancel", "brew")
    assert (again.code, "has ended (cancelled)" in again.err) == (5, True)
    assert kitchen.here("tasks", "show", "nothing").code == 4
    assert kitchen.here("tasks", "redrive", "brew").code == 5
    assert kitchen.here("tasks", "answer", "brew").code == 2


@law("TASK-6.b")
def test_what_a_task_asks_is_answered_on_the_command_line(kitchen: Home) -> None:
    kitchen.outlast("run", "--task", "talk", "--input", "Tea.", "--thread", "t-1")
    asyncio.run(asked(kitchen))
    shown = kitchen.here("tasks", "show", "brew")
    assert "asks (q1): How strong? [strength]" in shown.out
    wrong = kitchen.here("tasks", "answer", "brew", "very")
    assert (wrong.code, "does not fit" in wrong.err) == (2, True)
    for strange in ("[]", '{"strength": NaN}', '{"strength": 1, "strength": 2}', '{"a":' + "[" * 100_000):
        told = kitchen.here("tasks", "answer", "brew", "--fields", strange)
        assert (told.code, 'Write {"name": value}.' in told.err) == (2, True)
    right = kitchen.here("tasks", "answer", "brew", "3", "--json")
    assert right.document["questions"] == []
    assert "No worker is there to carry it out" in right.err
    assert asyncio.run(answer_of(kitchen)) == {"strength": 3}
    again = kitchen.here("tasks", "answer", "brew", "3")
    assert (again.code, "See how it stands with `outlast tasks show" in again.err) == (5, True)


async def asked(kitchen: Home) -> None:
    """Let the server of the task ask something."""
    async with opened(kitchen) as store:
        row = (await store.list_tasks(TaskFilter()))[0]
        form = {"type": "object", "properties": {"strength": {"type": "integer"}}, "required": ["strength"]}
        asks = Snapshot(
            status=RemoteStatus.INPUT_REQUIRED, questions={"q1": Question("form", "How strong?", form)}
        )
        await happen(store, row.task_id, Polled(asks), lambda task: TaskRules(), Moment(await store.now()))


async def answer_of(kitchen: Home) -> object:
    """What is stored to be sent."""
    async with opened(kitchen) as store:
        answer = task_in((await store.list_tasks(TaskFilter()))[0]).questions["q1"].answer
        return answer.content if answer is not None else None


@asynccontextmanager
async def opened(kitchen: Home) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(kitchen.folder / ".outlast/outlast.db")
    await store.open()
    try:
        yield store
    finally:
        await store.close()
