"""A run is remembered and recalled on every store: who keeps memory and searches it may be different, what comes is not."""

from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.events import MemoryRecalled
from tests.law import law
from tests.unit.runs.remembering.memories import Mindful, Words, mindful
from tests.unit.runs.remembering.test_remembering import CONCLUSION, read, researching


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A store of one kind, not open yet; the server of the other is not asked for."""
    if request.param == "sqlite":
        return SqliteStore(tmp_path / "outlast.db")
    return PostgresStore(request.getfixturevalue("postgres_store_url"))


@law("MEM-3.a", "MEM-3.b", "MEM-3.g")
async def test_runs_are_remembered_outdate_each_other_and_are_recalled(store: Any, tmp_path: Path) -> None:
    model = researching("In Cornwall.")
    async with mindful(
        tmp_path,
        model,
        read,
        workflow="research",
        store=store,
        embedder=Words("words", 512),  # type: ignore[arg-type]
    ) as on:
        first = await on.play("Tell me about tin. I like tea.", thread_id="t-1")
        on.stage.answering = researching("In London.")  # type: ignore[assignment]
        await on.play("I stopped drinking tea, coffee now.", thread_id="t-1")
        held = {one.text: one.valid_to is None for one in await on.entries()}
        assert held == {
            "Tin is traded in Cornwall.": True,
            "In Cornwall.": False,
            "In London.": True,
            "I like tea.": False,
            "I stopped drinking tea, coffee now.": True,
        }
        [before, _] = await on.entries(kinds=CONCLUSION)
        assert before.origin.run_id == first
        shown = await first_recalled(on, "Tell me more about tin.", thread_id="t-2")
        assert {text for text, is_outdated in shown if not is_outdated} == {
            "Tin is traded in Cornwall.",
            "In London.",
        }
        assert shown[-1] == ("In Cornwall.", True)
        assert await first_recalled(on, "Tell me about tin.", thread_id="t-3", user_id="ben") == []


async def first_recalled(on: Mindful, words: str, **order: Any) -> list[tuple[str, bool]]:
    """What the first subtask of one more run was shown from memory."""
    run = await on.play(words, **order)
    recalled = await on.stage.events(run, MemoryRecalled)
    first = next(one for one in recalled if one.branch == "s1")
    return [(one.text, one.is_outdated) for one in first.entries]
