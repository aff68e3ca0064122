"""A worker dies at every call of its ports, in a run with a shadow: no effect is repeated, and nothing is compared twice."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.errors import OutlastError
from outlast.domain.events import ShadowCompared, ToolUnsettled
from outlast.journal.fold import fold_checked
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import ToolResult, tool
from outlast.runs.shadowing.aftermath import Aftermath
from outlast.runs.worker import Worker
from outlast.testing.faults import Crash, CrashPlan, Faulty
from tests.law import law
from tests.unit.runs.parts import ask_for, call, say
from tests.unit.runs.shadowing.shade import Shade, shaded

MOST_CLAIMS = 5


@dataclass
class Post:
    """Whom mails went to, and whether that of one is not known."""

    sent: list[str] = field(default_factory=list)
    is_unknown: bool = False


def tools_of(post: Post) -> tuple[object, object]:
    @tool(effect="once")
    async def mail(to: str) -> str:
        """Send a mail."""
        post.sent.append(to)
        return f"sent to {to}"

    @tool(effect="read", cache_seconds=0)
    async def page(url: str) -> ToolResult:
        """Read a page."""
        return ToolResult(True, f"The page {url}.")

    return mail, page


def answering(request: ModelRequest) -> ModelAnswer:
    turn = sum(message.speaker == "tool" for message in request.messages)
    steps = (
        ask_for(call("page", url="a")),
        ask_for(call("mail", to="ann")),
        ask_for(call("page", url="b")),
    )
    return steps[turn] if turn < len(steps) else say("Done.")


async def lived(folder: Path, plan: CrashPlan) -> tuple[Post, list[ShadowCompared], int]:
    """A run through the death of one process; mails that went out, what was compared, and how many processes it took."""
    post = Post()
    async with shaded(folder, answering, *tools_of(post), unknown_outcome="error") as shade:
        shade.cast("config")
        run = await shade.stage.start()
        claims, tools = 0, shade.stage.tools
        while not (await shade.stage.state(run)).has_ended:
            claims += 1
            assert claims <= MOST_CLAIMS, "the run does not come to its end"
            with contextlib.suppress(Crash):
                shade.stage.tools = {name: Faulty(one, plan, f"tool.{name}") for name, one in tools.items()}
                await worked(shade, run, plan)
            plan = CrashPlan()
            assert isinstance(shade.stage.store, SqliteStore)
            await shade.stage.store.expire_lease("runs", run)
        history = await shade.stage.history(run)
        state, divergences = fold_checked(run, history)
        assert not divergences
        assert state == await shade.stage.state(run)
        assert state.outcome == "full"
        post.is_unknown = any(isinstance(one.event, ToolUnsettled) for one in history)
        return post, await shade.compared(run), claims


async def worked(shade: Shade, run: str, plan: CrashPlan) -> None:
    """One process works on a run until it gives it back or dies, with everything it was at."""
    stage = shade.stage
    shade.aftermath = Aftermath()
    shade.cast("config")

    async def answer(request: ModelRequest) -> ModelAnswer:
        label = plan.enter("provider.answer")
        plan.leave(label)
        return answering(request)

    stage.answering = answer
    worker = Worker(
        Faulty(stage.store, plan, "store"), stage._build, holder="w", name="w", lease_seconds=600.0
    )
    try:
        with contextlib.suppress(OutlastError):
            await worker.work_on(run)
    finally:
        await shade.aftermath.close()


@law("SEE-4.b", "SEE-4.c")
async def test_a_run_with_a_shadow_survives_the_death_of_its_worker_at_every_call(tmp_path: Path) -> None:
    counting = CrashPlan()
    post, compared, claims = await lived(tmp_path, counting)
    assert (post.sent, claims) == (["ann"], 1)
    verdicts = Counter(str(one.verdict) for one in compared)
    assert verdicts.pop("uncompared", 0) + verdicts.pop("differed") == 4, (
        "the process may end before the last is through"
    )
    assert verdicts == {"agreed": 2, "suppressed": 1}
    died = 0
    for point in counting.points:
        plan = CrashPlan(point)
        post, compared, claims = await lived(tmp_path, plan)
        died += plan.was_reached
        assert post.sent == ["ann"] or (not post.sent and post.is_unknown), point
        calls = [one.call for one in compared]
        assert len(calls) == len(set(calls)), point
    assert died > len(counting.points) // 2, "what the shadow does beside moves some points, not most"
