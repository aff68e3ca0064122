"""A keeper of memory that serves until it is told to stop: what it has taken then is given back, as far as memory lets it."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from outlast.domain.memory import Vector
from outlast.ports.embedder import EmbeddingPurpose
from outlast.runs.remembering import keeper as keeper_module
from outlast.runs.remembering.long_term_memory import LongTermMemory
from outlast.runs.remembering.queue import MEMORY, Progress
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import in_turn, say
from tests.unit.runs.remembering.memories import Mindful, Words, mindful
from tests.unit.runs.remembering.test_remembering import READS, read
from tests.unit.runs.stage import soon

HELLO = in_turn(say("Hello."))


async def test_a_serving_keeper_takes_runs_as_they_end_and_stops_when_told(tmp_path: Path) -> None:
    async with mindful(tmp_path, READS, read) as on:
        keeper = on.keeper()
        serving = asyncio.create_task(keeper.serve())
        run = await on.stage.play("Where is tin traded?")
        await done_with(on, run)
        keeper.stop()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await serving
        assert await on.texts() == ["Tin is traded in Cornwall."]


async def test_a_keeper_that_is_stopped_in_the_middle_leaves_the_entry_to_the_next_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_module, "PATIENCE_SECONDS", 0.02)
    async with mindful(tmp_path, READS, read) as on:
        await on.stage.play("Where is tin traded?")
        begun = asyncio.Event()

        class Slow(Words):
            async def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> list[Vector | None]:
                begun.set()
                await asyncio.Event().wait()
                raise AssertionError

        keeper = Mindful(on.stage, LongTermMemory(on.memory, Slow())).keeper()
        serving = asyncio.create_task(keeper.serve())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await begun.wait()
            keeper.stop()
            await serving
        await on.keeper().clear()
        assert await on.texts() == ["Tin is traded in Cornwall."]


async def test_a_keeper_whose_memory_does_not_even_stop_is_left_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_module, "PATIENCE_SECONDS", 0.02)
    monkeypatch.setattr(keeper_module, "STOP_SECONDS", 0.02)
    async with mindful(tmp_path, READS, read) as on:
        await on.stage.play("Where is tin traded?")
        begun, gate = asyncio.Event(), asyncio.Event()

        class Deafened(Words):
            async def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> list[Vector | None]:
                begun.set()
                while not gate.is_set():
                    with suppress(asyncio.CancelledError):
                        await gate.wait()
                return [None for _ in texts]

        asyncio.get_running_loop().call_later(PATIENCE_SECONDS, gate.set)
        keeper = Mindful(on.stage, LongTermMemory(on.memory, Deafened())).keeper()
        serving = asyncio.create_task(keeper.serve())
        await soon(begun)
        keeper.stop()
        await serving
        assert not gate.is_set()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        gate.set()
        await asyncio.wait(left, timeout=PATIENCE_SECONDS)


async def test_a_keeper_that_is_stopped_gives_back_what_it_has_not_begun_and_what_it_has_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with mindful(tmp_path, HELLO) as on:
        runs = [await on.stage.play("Our boat is called Tin.") for _ in range(3)]
        begun, keeper = asyncio.Event(), on.keeper()

        async def remember(run_id: str, after: int = 0) -> int:
            if run_id != runs[1]:
                return 7
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

        monkeypatch.setattr(keeper._indexer, "remember", remember)
        clearing = asyncio.create_task(keeper.clear())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await begun.wait()
            clearing.cancel()
            await asyncio.gather(clearing, return_exceptions=True)
        entries = [await on.stage.store.read_entry(MEMORY, run) for run in runs]
        found = [(one.until, one.due_at is None, Progress.read(one.note).position) for one in entries if one]
        assert found == [(None, True, 7), (None, False, 0), (None, False, 0)]


async def done_with(on: Mindful, run: str) -> None:
    """Wait until a run is remembered up to its end, with a bound; that it was given back then, the keeper may come too early for."""
    end = await on.stage.store.read_head(run) - 1
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            entry = await on.stage.store.read_entry(MEMORY, run)
            if entry is not None and entry.until is None and Progress.read(entry.note).position >= end:
                return
            await asyncio.sleep(0)
