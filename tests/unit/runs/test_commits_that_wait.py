"""What is done while a commit waits for its store: the work of a round is the same, and shows to nobody before its time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.commands import CallTool, Command
from outlast.domain.errors import Broken
from outlast.domain.events import ModelRequested
from outlast.domain.run import RunState
from outlast.ports.batch import Committed, Item, Refused
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.stream import Append
from outlast.ports.tool import tool
from outlast.runs.moves import settle
from outlast.runs.workflows import chat
from outlast.service import signals
from tests.unit.runs.parts import ask_for, call, in_turn, results, say
from tests.unit.runs.stage import staged

Step = Callable[[], Awaitable[None]]


class Waiting(SqliteStore):
    """Every commit waits a turn of the loop, as with a server. At one with an event of a kind something is done, before or after."""

    before: dict[str, Step]
    after: dict[str, Step]

    def __init__(self) -> None:
        super().__init__(None)
        self.before, self.after = {}, {}

    async def commit(self, batch: Sequence[Item]) -> Committed | Refused:
        kinds = {row.kind for item in batch if isinstance(item, Append) for row in item.events}
        await asyncio.sleep(0)
        await _done(self.before, kinds)
        answer = await super().commit(batch)
        await asyncio.sleep(0)
        await _done(self.after, kinds)
        return answer


async def test_a_round_is_the_same_whether_its_commits_wait_or_not(tmp_path: Path) -> None:
    """Requests to the model and events of the journal."""
    played = []
    for store in (SqliteStore(None), Waiting()):
        async with staged(tmp_path, _three_times, _looks(), store=store) as stage:
            run = await stage.play()
            assert (await stage.state(run)).outcome == "full"
            asked = [[message.speaker for message in request.messages] for request in stage.requests]
            played.append((asked, [type(one.event) for one in await stage.history(run)]))
    assert played[0] == played[1]


@pytest.mark.parametrize("waits", [False, True])
async def test_what_a_call_came_to_is_known_to_the_call_that_waited_for_it(
    tmp_path: Path, waits: bool
) -> None:
    """Of two calls alike, with room for one, the second has the result of the first: no model was asked in between."""
    counted: list[str] = []

    async def look(where: str) -> str:
        counted.append(where)
        return f"look {len(counted)}"

    def answering(request: ModelRequest) -> ModelAnswer:
        twice = ask_for(call("look", where="up"), call("look", where="up"))
        return say("done") if results(request) else twice

    cached = tool(name="look", description="Look", effect="read", cache_seconds=60)(look)
    store = Waiting() if waits else SqliteStore(None)
    async with staged(tmp_path, answering, cached, store=store, max_concurrent_tools=1) as stage:
        run = await stage.play()
        assert [outcome.shown for outcome in await stage.outcomes(run)] == ["look 1", "look 1"]
        assert counted == ["up"]


async def test_a_request_made_ready_for_a_commit_that_was_refused_is_not_sent(tmp_path: Path) -> None:
    """Somebody says something between the draft and its commit: the model is asked once, and hears it."""
    store = Waiting()
    async with staged(tmp_path, _three_times, _looks(), store=store) as stage:
        run = await stage.start()

        async def speak() -> None:
            if len(stage.requests) == 1:
                store.before.clear()
                await signals.say(store, run, "ann", "Mind the gap.")

        store.before["ModelRequested"] = speak
        await stage.work(run)
        assert [
            any("Mind the gap." in message.text for message in one.messages) for one in stage.requests
        ] == [
            False,
            True,
            True,
            True,
        ]
        assert len(await stage.events(run, ModelRequested)) == len(stage.requests)


@pytest.mark.parametrize("is_made", [True, False])
async def test_a_call_made_ready_for_a_commit_of_unknown_outcome_is_made_once_it_is_known(
    tmp_path: Path, is_made: bool
) -> None:
    """Whether the commit turns out to have been made or not, the tool runs once."""
    store = Waiting()
    async with staged(tmp_path, _three_times, _looks(), store=store) as stage:
        run = await stage.start()

        async def lose() -> None:
            store.before.clear()
            store.after.clear()
            raise Broken("commit_unknown", "No answer came.", "Look.")

        (store.after if is_made else store.before)["ToolRequested"] = lose
        await stage.work(run)
        assert [outcome.shown for outcome in await stage.outcomes(run)] == ["look 1", "look 2", "look 3"]
        assert (await stage.state(run)).outcome == "full"


async def test_a_call_that_is_answered_in_the_commit_of_its_intent_is_not_made_ready(tmp_path: Path) -> None:
    """A workflow that changes its mind at a stroke: nothing is left to begin, whether the commit waits or not."""

    def decide(state: RunState, now: datetime) -> Sequence[Command]:
        if state.calls:
            [name] = state.calls
            return [CallTool(name), settle(name, "cancelled", "It is not wanted any more.", "policy")]
        return chat.decide(state, now)

    for store in (SqliteStore(None), Waiting()):
        model = in_turn(ask_for(call("look")), say("done"))
        async with staged(tmp_path, model, _looks(), store=store, decide=decide) as stage:
            run = await stage.play()
            assert [outcome.ok for outcome in await stage.outcomes(run)] == [False]
            assert (await stage.state(run)).outcome == "full"


async def _done(steps: dict[str, Step], kinds: set[str]) -> None:
    for kind in kinds & steps.keys():
        await steps[kind]()


def _three_times(request: ModelRequest) -> ModelAnswer:
    done = len(results(request))
    return ask_for(call("look")) if done < 3 else say("done")


def _looks() -> object:
    count = 0

    async def look() -> str:
        nonlocal count
        count += 1
        return f"look {count}"

    return tool(name="look", description="Look", effect="once")(look)
