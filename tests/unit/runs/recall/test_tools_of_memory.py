"""`remember` and `recall` in the hands of a model: in the name of its run, whatever it asks for."""

import json
from pathlib import Path
from typing import Any

from outlast.adapters.tools.recall import Recall
from outlast.adapters.tools.remember import Remember
from outlast.domain.memory import MemoryKind, Scope
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.service.thread_removal import Ender, Gone, delete_thread
from tests.law import law
from tests.unit.runs.parts import (
    ask_for,
    call,
    conclude,
    in_turn,
    plan,
    results,
    roles,
    say,
    subtask,
    subtask_of,
    turn,
)
from tests.unit.runs.remembering.memories import Mindful, mindful

NOTE = frozenset({MemoryKind.NOTE})


async def answered(on: Mindful, *calls: Any, **order: Any) -> list[dict[str, Any]]:
    """What calls of a conversation came to, one after the other."""
    on.stage.answering = in_turn(*[ask_for(one) for one in calls], say("Done."))
    run = await on.stage.play("Please.", **order)
    outcomes = await on.stage.outcomes(run)
    return [json.loads(one.shown) for one in outcomes]


@law("TOOL-7.g", "MEM-3.g")
async def test_a_note_is_for_the_user_of_the_run_and_for_nobody_else(tmp_path: Path) -> None:
    async with mindful(tmp_path, in_turn(say("")), Remember, Recall) as on:
        [kept] = await answered(on, call("remember", text="The vault opens at nine."), user_id="ann")
        [note] = await on.memory.get("ann", [kept["remembered"]])
        assert (note.kind, note.scope, note.text) == (
            MemoryKind.NOTE,
            Scope("ann"),
            "The vault opens at nine.",
        )
        [hers] = await answered(on, call("recall", query="vault"), user_id="ann")
        [his] = await answered(on, call("recall", query="vault"), user_id="ben")
        assert [one["text"] for one in hers["entries"]] == ["The vault opens at nine."]
        assert his["entries"] == []
        [stolen] = await answered(on, call("recall", id=kept["remembered"]), user_id="ben")
        assert stolen["error"]["code"] == "tool_failed"


async def test_a_thread_that_is_deleted_takes_what_its_runs_left_in_memory_with_it(tmp_path: Path) -> None:
    async with mindful(tmp_path, in_turn(say("Yes."))) as on:
        await on.play("My boat is called Tin.", thread_id="t-1")
        await on.play("My cat is called Copper.", thread_id="t-2")
        ender = Ender(holder="somebody", is_gone=lambda holder: True)
        gone = await delete_thread(on.stage.store, on.memory, "t-1", "local", ender)
        assert gone == Gone(1, 1)
        assert await on.texts() == ["My cat is called Copper."]


async def test_a_note_that_is_kept_again_is_the_same_note(tmp_path: Path) -> None:
    async with mindful(tmp_path, in_turn(say("")), Remember, Recall) as on:
        said = call("remember", text="The vault opens at nine.")
        first, second = await answered(on, said, said)
        assert first == second
        assert len(await on.entries(kinds=NOTE)) == 1


@law("MEM-3.b")
async def test_a_note_takes_the_place_of_facts_and_notes_that_it_names(tmp_path: Path) -> None:
    async with mindful(tmp_path, in_turn(say("")), Remember, Recall) as on:
        await on.play("My boat is called Tin.")
        [fact] = await on.entries()
        changed = call("remember", text="The boat is called Copper.", replaces=[fact.memory_id])
        [kept] = await answered(on, changed)
        [before] = await on.memory.get("local", [fact.memory_id])
        assert before.superseded_by == kept["remembered"]
        [whole] = await answered(on, call("recall", id=fact.memory_id))
        assert whole["outdated"] is True


async def test_an_id_that_is_not_there_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    async with mindful(tmp_path, in_turn(say("")), Remember, Recall) as on:
        [refused] = await answered(on, call("remember", text="So.", replaces=["m-00"]))
        assert "no entry m-00" in refused["error"]["detail"]
        assert await on.entries() == []
        [nothing] = await answered(on, call("recall"))
        assert "Give a query" in nothing["error"]["detail"]


async def test_without_memory_the_tools_say_so(tmp_path: Path) -> None:
    async with mindful(tmp_path, in_turn(say("")), Remember, Recall) as on:
        on.stage.memory = None
        [refused] = await answered(on, call("recall", query="vault"))
        assert "turned off" in refused["error"]["detail"]


@law("PLAN-2.d")
async def test_a_note_of_one_subtask_is_not_recalled_in_another_unless_it_depends_on_it(
    tmp_path: Path,
) -> None:
    def work(request: ModelRequest) -> ModelAnswer:
        name = subtask_of(request)
        if turn(request) > 0:
            return conclude()
        if name == "s1":
            return ask_for(call("remember", text="The vault opens at nine."))
        return ask_for(call("recall", query="When does the vault open?"))

    planned = plan(subtask("s1"), subtask("s2", depends_on=["s1"]), subtask("s3"))
    async with mindful(
        tmp_path,
        roles(plan=planned, execute=work),
        Remember,
        Recall,
        workflow="research",
        max_concurrent_subtasks=1,
    ) as on:
        await on.stage.play("Tell me about the vault.")
        shown = {
            subtask_of(request): results(request)[0].text
            for request in on.stage.requests
            if request.purpose == "execute" and turn(request) == 1
        }
        assert "The vault opens at nine." in shown["s2"]
        assert "The vault opens at nine." not in shown["s3"]
