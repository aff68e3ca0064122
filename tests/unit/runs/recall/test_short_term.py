"""The first tier of recall: what the run itself found, seen by the subtasks it is for."""

from pathlib import Path

from outlast.domain.events import MemoryRecalled, RecallFailed, RecallRequested
from outlast.domain.task import ApprovalRule
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import ReadSource, ToolResult, tool
from outlast.runs.fences import RULE
from outlast.service import signals
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
from tests.unit.runs.props import page
from tests.unit.runs.stage import Stage, staged


@tool(effect="read", cache_seconds=0)
async def read(url: str) -> ToolResult:
    """Read a page about tin."""
    text = f"The page {url}.\n\nTin is traded in Cornwall, says {url}."
    return ToolResult(True, text, read=[ReadSource(url, f"Title of {url}", text)])


PLANNED = plan(
    subtask("s1", "Where is tin traded?"),
    subtask("s2", "Who says where tin is traded?", depends_on=["s1"]),
    subtask("s3", "When is tin traded?"),
)


def work(request: ModelRequest) -> ModelAnswer:
    """Read a page of one's own, then conclude."""
    return ask_for(call("read", url=f"http://{subtask_of(request)}")) if turn(request) == 0 else conclude()


RESEARCH = roles(plan=PLANNED, execute=work)


def opening_of(stage: Stage, name: str) -> ModelRequest:
    """What the executor of a subtask was asked first."""
    return next(one for one in stage.requests if one.purpose == "execute" and subtask_of(one) == name)


async def recalled(stage: Stage, run: str, branch: str) -> list[str]:
    """The addresses of the pages a branch was shown from memory."""
    return [
        one.source
        for event in await stage.events(run, MemoryRecalled)
        if event.branch == branch
        for one in event.entries
        if one.kind == "page"
    ]


@law("PLAN-2.d")
async def test_a_subtask_recalls_what_the_subtasks_it_depends_on_have_read_and_nothing_of_others(
    tmp_path: Path,
) -> None:
    async with staged(
        tmp_path, RESEARCH, read, workflow="research", recall_top_k=8, max_concurrent_subtasks=1
    ) as stage:
        run = await stage.play("Tell me about tin.")
        assert (await stage.states(run))[-1] == "COMPLETED"
        assert await recalled(stage, run, "s2") == ["http://s1"]
        assert await recalled(stage, run, "s1") == await recalled(stage, run, "s3") == []
        opened = opening_of(stage, "s2")
        assert "Tin is traded in Cornwall, says http://s1." in opened.messages[-1].text


@law("PLAN-2.c")
async def test_with_shared_contexts_a_subtask_recalls_what_any_other_has_read(tmp_path: Path) -> None:
    async with staged(
        tmp_path,
        RESEARCH,
        read,
        workflow="research",
        recall_top_k=8,
        max_concurrent_subtasks=1,
        isolation="shared",
    ) as stage:
        run = await stage.play("Tell me about tin.")
        assert set(await recalled(stage, run, "s3")) == {"http://s1", "http://s2"}


async def test_memory_is_asked_before_the_first_word_and_when_a_person_says_something_new(
    tmp_path: Path,
) -> None:
    model = in_turn(ask_for(call("page", url="http://tin")), say("So."))
    agreed = (ApprovalRule(tool="page"),)
    async with staged(tmp_path, model, page, recall_top_k=8, approvals=agreed) as stage:
        run = await stage.play("What is tin?")
        await signals.say(stage.store, run, "ann", "And what is zinc?")
        await signals.approve(stage.store, run, "ann")
        await stage.work(run)
        asked = [event.query for event in await stage.events(run, RecallRequested)]
        assert asked == ["What is tin?", "And what is zinc?"]
        assert len(await stage.events(run, MemoryRecalled)) == 2
        assert (await stage.states(run))[-1] == "COMPLETED"


async def test_a_run_without_memory_asks_none(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        run = await stage.play()
        assert not await stage.events(run, RecallRequested, MemoryRecalled, RecallFailed)


async def test_what_is_recalled_is_fenced_and_after_the_words_it_was_asked_for(tmp_path: Path) -> None:
    async with staged(
        tmp_path, RESEARCH, read, workflow="research", recall_top_k=8, max_concurrent_subtasks=1
    ) as stage:
        await stage.play("Tell me about tin.")
        opened = opening_of(stage, "s2")
        opening = opened.messages[-1].text
        assert opened.messages[0].text.endswith(RULE)
        fence = opening[opening.index("from memory>>") - 40 :]
        assert fence.index("from memory>>") < fence.index("Tin is traded in Cornwall") < fence.index("<<end ")
