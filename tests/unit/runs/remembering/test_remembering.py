"""What runs find enters memory by itself, with its source, its subtask and its time; newer findings outdate older ones."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from outlast.domain.events import MemoryRecalled
from outlast.domain.ids import source_key
from outlast.domain.memory import Memory, MemoryKind, Scope
from outlast.ports.memory import Entry
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import ReadSource, ToolResult, tool
from outlast.runs.remembering.extraction import findings_in
from outlast.runs.remembering.long_term_memory import Rules
from outlast.service.fork import Branching, fork_run
from tests.law import law
from tests.unit.runs.parts import (
    ask_for,
    call,
    conclude,
    in_turn,
    plan,
    roles,
    say,
    subtask,
    subtask_of,
    turn,
)
from tests.unit.runs.remembering.memories import mindful

PAGE = frozenset({MemoryKind.PAGE})
FACT = frozenset({MemoryKind.FACT})
CONCLUSION = frozenset({MemoryKind.CONCLUSION})

SHELF = {"http://tin": "Tin is traded in Cornwall."}


@tool(effect="read", cache_seconds=0)
async def read(url: str) -> ToolResult:
    """Read a page from the shelf."""
    return ToolResult(True, SHELF[url], read=[ReadSource(url, f"Title of {url}", SHELF[url])])


READS = in_turn(ask_for(call("read", url="http://tin")), say("Read."))


def concluding(claim: str) -> ModelAnswer:
    found = {"claim": claim, "sources": [source_key("http://tin")], "quote": "", "confidence": 0.8}
    return conclude(found)


def researching(claim: str) -> object:
    """A model whose first subtask reads and concludes; the others conclude nothing."""

    def work(request: ModelRequest) -> ModelAnswer:
        if subtask_of(request) != "s1":
            return conclude()
        return ask_for(call("read", url="http://tin")) if turn(request) == 0 else concluding(claim)

    planned = plan(subtask("s1", "Where is tin traded?"), subtask("s2"), subtask("s3"))
    return roles(plan=planned, execute=work)


@law("MEM-3.a")
async def test_a_page_that_was_read_enters_memory_with_its_source_and_is_recalled_by_the_next_run(
    tmp_path: Path,
) -> None:
    async with mindful(tmp_path, READS, read) as on:
        first = await on.play("Where is tin traded?")
        [entry] = await on.entries()
        assert (entry.kind, entry.text, entry.source) == (
            MemoryKind.PAGE,
            SHELF["http://tin"],
            "http://tin",
        )
        assert (entry.title, entry.scope) == ("Title of http://tin", Scope("local"))
        assert entry.origin.run_id == first
        second = await on.play("Tell me of tin in Cornwall.")
        [recalled] = await on.stage.events(second, MemoryRecalled)
        [found] = recalled.entries
        assert (found.tier, found.kind, found.source, found.id) == (
            "long_term",
            "page",
            "http://tin",
            entry.memory_id,
        )
        assert "Tin is traded in Cornwall." in on.stage.requests[-2].messages[-1].text


@law("MEM-3.a")
async def test_conclusions_enter_memory_with_their_question_their_source_and_the_tag_of_their_subtask(
    tmp_path: Path,
) -> None:
    async with mindful(tmp_path, researching("In Cornwall."), read, workflow="research") as on:
        await on.play("Tell me about tin.")
        [entry] = await on.entries(kinds=CONCLUSION)
        assert (entry.text, entry.title, entry.source) == (
            "In Cornwall.",
            "Where is tin traded?",
            "http://tin",
        )
        assert entry.subtasks == ("s1",)
        [page] = await on.entries(kinds=PAGE)
        assert page.subtasks == ("s1",)


async def test_a_claim_without_support_is_not_remembered(tmp_path: Path) -> None:
    async with mindful(tmp_path, roles(), workflow="research") as on:
        await on.play("Tell me about tin.")
        assert await on.entries(kinds=CONCLUSION) == []


@law("MEM-3.b")
async def test_a_page_that_says_something_else_now_outdates_what_it_said_before(tmp_path: Path) -> None:
    async with mindful(tmp_path, READS, read) as on:
        await on.play("Where is tin traded?")
        SHELF["http://tin"] = "Tin is traded in London now."
        try:
            await on.play("Where is tin traded?")
        finally:
            SHELF["http://tin"] = "Tin is traded in Cornwall."
        before, after = await on.entries()
        assert before.superseded_by == after.memory_id
        assert before.valid_to == after.valid_from
        assert after.valid_to is None


@law("MEM-3.b")
async def test_a_later_run_on_the_same_question_outdates_what_the_earlier_one_concluded(
    tmp_path: Path,
) -> None:
    async with mindful(tmp_path, researching("In Cornwall."), read, workflow="research") as on:
        await on.play("Tell me about tin.")
        on.stage.answering = researching("In London.")  # type: ignore[assignment]
        await on.play("Tell me about tin again.")
        before, after = await on.entries(kinds=CONCLUSION)
        assert (before.text, before.superseded_by) == ("In Cornwall.", after.memory_id)


async def test_findings_outdate_others_also_by_a_store_whose_clock_is_behind(tmp_path: Path) -> None:
    async with mindful(tmp_path, researching("In Cornwall."), read, workflow="research") as on:
        store = on.stage.store
        earlier = await on.stage.play("Tell me about tin.")
        on.stage.answering = researching("In London.")  # type: ignore[assignment]
        later = await on.stage.play("Tell me about tin again.")

        class Behind:
            async def now(self) -> datetime:
                return await store.now() - timedelta(seconds=20)

            def __getattr__(self, name: str) -> Any:
                return getattr(store, name)

        for run in (later, earlier):
            await on.keeper(Behind()).remember(run)
        before, after = await on.entries(kinds=CONCLUSION)
        assert (before.text, before.superseded_by) == ("In Cornwall.", after.memory_id)


async def test_runs_that_are_remembered_late_do_not_outdate_newer_ones(tmp_path: Path) -> None:
    async with mindful(tmp_path, READS, read) as on:
        earlier = await on.stage.play("Where is tin traded?")
        SHELF["http://tin"] = "Tin is traded in London now."
        try:
            later = await on.stage.play("Where is tin traded?")
        finally:
            SHELF["http://tin"] = "Tin is traded in Cornwall."
        for run in (later, earlier):
            await on.keeper().remember(run)
        held = [one.text for one in await on.entries() if one.valid_to is None]
        assert held == ["Tin is traded in London now."]


async def test_g10_06_what_memory_brought_back_is_not_remembered_again_and_a_correction_outdates_it(
    tmp_path: Path,
) -> None:
    async with mindful(tmp_path, in_turn(say("I see: you like tea."))) as on:
        await on.play("I like tea.", thread_id="t-1")
        for number in range(10):
            run = await on.play(f"Do I like tea, {number}?", thread_id=f"t-1{number}")
            [recalled] = await on.stage.events(run, MemoryRecalled)
            assert [one.text for one in recalled.entries] == ["I like tea."]
        assert await on.texts() == ["I like tea."]
        await on.play("I stopped drinking tea, coffee now.", thread_id="t-1")
        asked = await on.play("What about tea or coffee?", thread_id="t-20")
        [recalled] = await on.stage.events(asked, MemoryRecalled)
        assert [(one.text, one.is_outdated) for one in recalled.entries] == [
            ("I stopped drinking tea, coffee now.", False),
            ("I like tea.", True),
        ]
        assert all(one.title == "said by local" and one.known_at for one in recalled.entries)
        shown = on.stage.requests[-1].messages[-1].text
        assert "[fact] said by local" in shown
        assert "[outdated fact] said by local" in shown


async def test_a_correction_outdates_nothing_that_it_shares_no_words_with(tmp_path: Path) -> None:
    async with mindful(tmp_path, in_turn(say("Yes."))) as on:
        await on.play("I own a boat.", thread_id="t-1")
        await on.play("I stopped drinking tea, coffee now.", thread_id="t-1")
        assert [one.superseded_by for one in await on.entries(kinds=FACT)] == [None, None]


@law("MEM-3.g")
async def test_users_never_see_what_others_left_in_memory(tmp_path: Path) -> None:
    async with mindful(tmp_path, in_turn(say("Yes."))) as on:
        await on.play("My boat is called Tin.", user_id="ann")
        run = await on.play("What is my boat called, Tin?", user_id="ben")
        [recalled] = await on.stage.events(run, MemoryRecalled)
        assert recalled.entries == ()


async def test_with_a_scope_of_threads_another_thread_recalls_nothing(tmp_path: Path) -> None:
    async with mindful(tmp_path, in_turn(say("Yes.")), rules=Rules("thread")) as on:
        await on.play("My boat is called Tin.", thread_id="t-1")
        run = await on.play("What is my boat called, Tin?", thread_id="t-2")
        assert (await on.stage.events(run, MemoryRecalled))[0].entries == ()
        run = await on.play("My Tin boat, what of it?", thread_id="t-1")
        assert (await on.stage.events(run, MemoryRecalled))[0].entries == ()  # the thread itself shows it


async def test_a_fork_remembers_only_what_it_found_itself(tmp_path: Path) -> None:
    async with mindful(tmp_path, READS, read) as on:
        run = await on.play("My boat is called Tin.")
        before = await on.texts()
        fork = await fork_run(on.stage.store, Branching(run_id=run, at=4, random=bytes(range(40))))
        await on.stage.work(fork.run_id)
        await on.keeper().clear()
        assert await on.texts() == before


async def test_entries_expire_after_their_time(tmp_path: Path) -> None:
    async with mindful(tmp_path, READS, read, rules=Rules(lifetime=timedelta(days=90))) as on:
        await on.play("My boat is called Tin.")
        for entry in await on.entries():
            assert entry.expires_at == entry.valid_from + timedelta(days=90)


async def test_a_run_that_is_not_to_be_remembered_leaves_nothing(tmp_path: Path) -> None:
    async with mindful(tmp_path, READS, read, is_remembered=False) as on:
        run = await on.play("My boat is called Tin.")
        await on.keeper().remember(run)
        assert await on.entries() == []


@law("MEM-3.e")
async def test_recall_brings_at_most_so_many_entries_those_of_the_run_itself_first(tmp_path: Path) -> None:
    planned = plan(
        subtask("s1", "Who mines?"), subtask("s2", "Where is tin traded?", depends_on=["s1"]), subtask("s3")
    )

    def work(request: ModelRequest) -> ModelAnswer:
        if subtask_of(request) == "s1" and turn(request) == 0:
            return ask_for(call("read", url="http://tin"))
        return conclude()

    model = roles(plan=planned, execute=work)
    async with mindful(tmp_path, model, read, workflow="research", recall_top_k=3) as on:
        for number in range(6):
            await on.memory.put([Entry(noted(f"Mine {number}: tin is traded there."))])
        run = await on.play("Tell me about tin.")
        recalled = next(one for one in await on.stage.events(run, MemoryRecalled) if one.branch == "s2")
        assert [one.tier for one in recalled.entries] == ["run", "long_term", "long_term"]
        assert recalled.entries[0].source == "http://tin"
        assert recalled.left_out == 4


def noted(text: str) -> Memory:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Memory(kind=MemoryKind.NOTE, text=text, scope=Scope("local"), created_at=at, valid_from=at)


async def test_what_a_run_that_tells_of_background_tasks_is_begun_with_is_no_words_of_a_person(
    tmp_path: Path,
) -> None:
    async with mindful(tmp_path, in_turn(say("Yes."))) as on:
        run = await on.stage.start("My task is called Tin.")
        [started, *rest] = await on.stage.history(run)
        told = replace(started.event, tells_of=("b-1",))  # type: ignore[type-var]
        assert findings_in([started, *rest])
        assert findings_in([replace(started, event=told), *rest]) == []
