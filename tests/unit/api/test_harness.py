"""The Python door: settings of one run, and the word of a run that waits."""

from pathlib import Path

from outlast import Harness
from outlast.service.show import pinned_definition
from outlast.testing import ScriptedProvider

CONFIG = "harness: {persistence: {backend: memory}}\n"
TASK = "task: {name: t, workflow: chat, tools: [], approvals: [{on: 'EXECUTING->COMPLETED'}]}\n"


def written(folder: Path, task: str = TASK) -> Path:
    (folder / "tasks").mkdir()
    (folder / "tasks/t.yaml").write_text(task)
    (folder / "outlast.yaml").write_text(CONFIG)
    return folder / "outlast.yaml"


async def test_settings_of_one_run_reach_it_whatever_they_are_about(tmp_path: Path) -> None:
    model = ScriptedProvider([{"say": "Done.", "repeat": True}])
    async with Harness.open(written(tmp_path), provider=model) as harness:
        overrides = {"task.max_steps": 7, "harness": {"retry": {"max_attempts": 9}}}
        run = await harness.start(task="t", input="Go", overrides=overrides)
        pinned = await pinned_definition(harness.engine.store, run.run_id)
        assert (pinned.limits.max_steps, pinned.retry.max_attempts, pinned.tools) == (7, 9, ())
        fork = await harness.fork(run.run_id, at=1, overrides={"harness.retry.max_attempts": 5})
        forked = await pinned_definition(harness.engine.store, fork.run_id)
        assert (forked.limits.max_steps, forked.retry.max_attempts, forked.tools) == (7, 5, ())


async def test_result_after_a_decision_is_what_came_of_it(tmp_path: Path) -> None:
    model = ScriptedProvider([{"say": "Done.", "repeat": True}])
    async with Harness.open(written(tmp_path), provider=model) as harness:
        run = await harness.start(task="t", input="Go")
        assert (await run.result())["state"] == "WAITING"
        await run.approve()
        shown = await run.result()
        assert (shown["state"], shown["answer"]) == ("COMPLETED", "Done.")


async def test_result_after_a_resume_is_what_came_of_it(tmp_path: Path) -> None:
    model = ScriptedProvider([{"say": "Done.", "repeat": True}])
    async with Harness.open(written(tmp_path), provider=model) as harness:
        run = await harness.start(task="t", input="Go")
        await run.result()
        await run.reject(comment="not yet")
        assert (await run.result())["error"]["code"] == "transition_refused"
        await run.resume()
        assert (await run.result())["state"] == "WAITING"


async def test_file_that_was_written_again_is_read_as_it_is_now(tmp_path: Path) -> None:
    def write(text: str) -> dict[str, object]:
        return {"tool": "write_file", "arguments": {"path": "a.txt", "content": text}}

    read = {"tool": "read_file", "arguments": {"path": "a.txt"}}
    calls = [write("first"), read, write("second"), read]
    script = [{"when": {"turn": turn}, "call": call} for turn, call in enumerate(calls)]
    task = "task: {name: t, workflow: chat, tools: [write_file, read_file]}\n"
    async with Harness.open(
        written(tmp_path, task), provider=ScriptedProvider([*script, {"say": "Done."}])
    ) as harness:
        run = await harness.start(task="t", input="Go")
        await run.result()
        lines = [line async for line in run.events()]
    results = [
        line["result"] for line in lines if line["kind"] == "ToolAnswered" and line["tool"] == "read_file"
    ]
    assert ["second" in result for result in results] == [False, True]
