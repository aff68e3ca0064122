"""Where nothing is remembered of a user, a run that begins asks memory nothing: its first commit holds what would have come."""

from pathlib import Path
from typing import Any

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.adapters.tools.remember import Remember
from outlast.domain.events import MemoryRecalled, ModelRequested, RecallRequested, RunClaimed
from outlast.ports.run_rows import RunFilter
from outlast.ports.tool import tool
from outlast.service import signals
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.remembering.memories import Mindful, Words, mindful


async def commits_of(on: Mindful, run: str) -> list[list[type[Any]]]:
    """The claims, recalls and model calls of a run by the commits they came with, told by their time."""
    kinds = (RunClaimed, RecallRequested, MemoryRecalled, ModelRequested)
    history = [one for one in await on.stage.history(run) if isinstance(one.event, kinds)]
    times = dict.fromkeys(one.at for one in history)
    return [[type(one.event) for one in history if one.at == at] for at in times]


async def test_a_run_of_a_user_of_whom_nothing_is_remembered_asks_its_model_at_once(tmp_path: Path) -> None:
    async with mindful(tmp_path, in_turn(say("Yes.")), embedder=Words()) as on:
        run = await on.stage.play("What is tin?")
        assert await commits_of(on, run) == [[RunClaimed, RecallRequested, MemoryRecalled, ModelRequested]]
        [recalled] = await on.stage.events(run, MemoryRecalled)
        assert (recalled.query, recalled.entries) == ("What is tin?", ())


async def test_a_run_of_a_user_of_whom_something_is_remembered_asks_for_it(tmp_path: Path) -> None:
    model = in_turn(ask_for(call("remember", text="Tin is a metal.")), say("Kept."), say("Yes."))
    async with mindful(tmp_path, model, Remember, embedder=Words()) as on:
        await on.stage.play("Keep this.")
        run = await on.stage.play("What is tin?")
        [recalled] = await on.stage.events(run, MemoryRecalled)
        assert [one.text for one in recalled.entries] == ["Tin is a metal."]
        assert (await commits_of(on, run))[0] == [RunClaimed, RecallRequested]


async def test_what_was_kept_in_a_run_is_recalled_when_its_person_says_something_new(tmp_path: Path) -> None:
    stores: list[SqliteStore] = []

    @tool(effect="idempotent")
    async def hear() -> str:
        """Have the person say something while the run is at work."""
        [row] = await stores[0].list_runs(RunFilter())
        await signals.say(stores[0], row.run_id, row.user_id, "What is tin?")
        return "heard"

    kept = call("remember", text="Tin is a metal.")
    model = in_turn(ask_for(kept), ask_for(call("hear")), say("Yes."), say("Yes."))
    async with mindful(tmp_path, model, Remember, hear, embedder=Words()) as on:
        stores.append(on.stage.store)
        run = await on.stage.play("Keep this.")
        first, second = await on.stage.events(run, MemoryRecalled)
        assert (first.entries, [one.text for one in second.entries]) == ((), ["Tin is a metal."])
