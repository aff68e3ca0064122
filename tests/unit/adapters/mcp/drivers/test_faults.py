"""Everything servers do to tasks: what a driver makes of it, over real connections to a server that is killed and started again."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.mcp.config import ServerConfig
from outlast.adapters.mcp.results import MOST_PRODUCT_BYTES
from outlast.adapters.mcp.servers import McpServers
from outlast.domain.errors import Passing
from outlast.ports.background_driver import (
    Acknowledged,
    Answer,
    BackgroundDriver,
    Forgotten,
    Handle,
    RemoteStatus,
    Snapshot,
    Trouble,
)
from outlast.testing.contexts import tool_context
from outlast.testing.contracts.background_driver import ended_by, seen_by
from tests.mcp_peers.running import ROOT, RunningPeer
from tests.patience import PATIENCE_SECONDS

SECONDS = 20.0


class Stage:
    """A server, and a driver of its tasks."""

    def __init__(self, servers: McpServers, peer: RunningPeer, folder: Path) -> None:
        self.peer, self.folder = peer, folder
        self.servers = servers
        self.config = ServerConfig(name="peer", url=peer.url, timeout_seconds=10)
        self.driver: BackgroundDriver = servers.driver("mcp_tasks", self.config)

    async def begin(self, tool: str, **arguments: Any) -> Handle:
        handle = await (await self.tool(tool)).run(arguments, tool_context(self.folder))
        assert isinstance(handle, Handle)
        return handle

    async def tool(self, name: str) -> Any:
        return (await self.servers.tools(self.config))[f"peer__{name}"]

    async def count(self) -> int:
        result = await (await self.tool("count_tasks")).run({}, tool_context(self.folder))
        return int(result.data)


@pytest.fixture
def stage(servers: McpServers, tmp_path: Path) -> Iterator[Stage]:
    with RunningPeer(tmp_path) as peer:
        yield Stage(servers, peer, tmp_path)


async def test_an_ordinary_answer_is_a_result(stage: Stage) -> None:
    result = await (await stage.tool("greet")).run({"name": "Ada"}, tool_context(stage.folder))
    assert result.data == "Hello, Ada!"


async def test_a_task_is_a_handle_with_what_its_server_said(stage: Stage) -> None:
    handle = await stage.begin("slow", seconds=60)
    assert (handle.driver, handle.server, handle.protocol_version) == ("mcp_tasks", "peer", "2026-07-28")
    assert (handle.poll_after_seconds, handle.ttl_seconds) == (0.1, 3600)
    assert handle.status_message == "slow is working"


async def test_a_failure_of_the_tool_is_its_product(stage: Stage) -> None:
    ended = await ended_by(stage.driver, await stage.begin("fails"))
    assert (ended.status, ended.product and ended.product.is_error) == (RemoteStatus.COMPLETED, True)


async def test_an_error_of_the_protocol_is_a_failure(stage: Stage) -> None:
    ended = await ended_by(stage.driver, await stage.begin("breaks"))
    assert (ended.status, ended.error_code, ended.error) == (RemoteStatus.FAILED, "-32603", "panic")


async def test_a_long_result_is_bounded_and_kept(stage: Stage) -> None:
    ended = await ended_by(stage.driver, await stage.begin("big"))
    assert ended.product is not None
    assert len(str(ended.product.data)) < MOST_PRODUCT_BYTES
    [digest] = ended.product.artifacts
    assert len(ended.product.contents[digest]) == 2_000_000


async def test_a_binary_result_is_kept_and_never_shown(stage: Stage) -> None:
    ended = await ended_by(stage.driver, await stage.begin("picture"))
    assert ended.product is not None
    [digest] = ended.product.artifacts
    assert ended.product.contents[digest].startswith(b"\x89PNG")
    assert "image/png" in str(ended.product.data)
    assert len(str(ended.product.data)) < 300


async def test_a_server_that_has_no_time_is_passing_trouble(stage: Stage) -> None:
    handle = await stage.begin("flaky", seconds=0)
    replies = [await stage.driver.poll(handle, SECONDS) for _ in range(3)]
    assert [type(reply) for reply in replies] == [Trouble, Trouble, Snapshot]
    assert isinstance(replies[0], Trouble)
    assert replies[0].passing


@pytest.mark.parametrize("tool", ["expires", "vanishes"])
async def test_a_task_the_server_forgot_is_forgotten(stage: Stage, tool: str) -> None:
    handle = await stage.begin(tool, seconds=60)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not isinstance(await stage.driver.poll(handle, SECONDS), Forgotten):
            pass
    assert isinstance(await stage.driver.cancel(handle, SECONDS), Acknowledged | Forgotten)


async def test_a_status_nobody_knows_counts_as_working(stage: Stage) -> None:
    handle = await stage.begin("odd_status", seconds=60)
    assert (await seen_by(stage.driver, handle)).status is RemoteStatus.WORKING


@pytest.mark.parametrize("tool", ["no_poll", "zero_poll"])
async def test_a_server_that_names_no_pause_names_none(stage: Stage, tool: str) -> None:
    handle = await stage.begin(tool, seconds=60)
    assert handle.poll_after_seconds is None
    assert (await seen_by(stage.driver, handle)).poll_after_seconds is None


async def test_a_wish_to_cancel_may_be_taken_and_ignored(stage: Stage) -> None:
    handle = await stage.begin("stubborn", seconds=0.2)
    assert isinstance(await stage.driver.cancel(handle, SECONDS), Acknowledged)
    assert (await ended_by(stage.driver, handle)).status is RemoteStatus.COMPLETED


@pytest.mark.parametrize("tool", ["slow_get", "hung_get"])
async def test_a_hanging_answer_ends_at_its_deadline_and_holds_up_no_other(stage: Stage, tool: str) -> None:
    hung, other = await stage.begin(tool), await stage.begin("slow")
    started = time.monotonic()
    waiting = asyncio.ensure_future(stage.driver.poll(hung, 1.0))
    assert (await ended_by(stage.driver, other)).status is RemoteStatus.COMPLETED
    reply = await waiting
    assert isinstance(reply, Trouble)
    assert reply.passing
    assert time.monotonic() - started < 8  # of the ten that the server is given


@pytest.mark.parametrize("tool", ["other_task", "nonsense"])
async def test_an_answer_that_makes_no_sense_needs_an_operator(stage: Stage, tool: str) -> None:
    reply = await stage.driver.poll(await stage.begin(tool), SECONDS)
    assert isinstance(reply, Trouble)
    assert not reply.passing


async def test_a_task_whose_id_never_arrived_is_unknown_and_not_begun_again(stage: Stage) -> None:
    tool = await stage.tool("lost_create")
    with pytest.raises(Passing) as lost:
        await tool.run({}, tool_context(stage.folder))
    assert lost.value.code == "outcome_unknown"
    assert await stage.count() == 1


async def test_the_key_of_a_call_goes_where_the_schema_has_a_place_for_it(stage: Stage) -> None:
    first, second = await stage.begin("slow", seconds=60), await stage.begin("slow", seconds=60)
    assert first.remote_id == second.remote_id
    assert await stage.count() == 1


async def test_a_question_before_the_task_is_declined(stage: Stage) -> None:
    ended = await ended_by(stage.driver, await stage.begin("asks_first"))
    assert ended.product is not None
    assert "decline" in str(ended.product.data)


async def test_questions_may_be_answered_one_by_one(stage: Stage) -> None:
    handle = await stage.begin("two_questions")
    asked = await seen_by(stage.driver, handle, RemoteStatus.INPUT_REQUIRED)
    assert set(asked.questions) == {"name", "age"}
    assert asked.questions["age"].schema["required"] == ["age"]
    await stage.driver.answer(handle, {"name": Answer("accept", {"name": "Ada"})}, SECONDS)
    left = await seen_by(stage.driver, handle, RemoteStatus.INPUT_REQUIRED)
    assert set(left.questions) == {"age"}
    await stage.driver.answer(handle, {"age": Answer("decline")}, SECONDS)
    ended = await ended_by(stage.driver, handle)
    assert ended.product is not None
    assert "Ada" in str(ended.product.data)
    assert "decline" in str(ended.product.data)


async def test_a_question_that_is_repeated_after_its_answer_ends_in_time(stage: Stage) -> None:
    handle = await stage.begin("repeats_questions")
    answer = {"again": Answer("accept", {"x": "y"})}
    assert isinstance(await stage.driver.answer(handle, answer, SECONDS), Acknowledged)
    assert "again" in (await seen_by(stage.driver, handle)).questions
    assert (await ended_by(stage.driver, handle)).status is RemoteStatus.COMPLETED


async def test_a_page_to_open_and_a_wish_nobody_grants_are_told_apart(stage: Stage) -> None:
    page = await seen_by(stage.driver, await stage.begin("opens_page"), RemoteStatus.INPUT_REQUIRED)
    assert (page.questions["page"].kind, page.questions["page"].url) == ("url", "https://sign.example/1")
    wish = await seen_by(stage.driver, await stage.begin("wants_model"), RemoteStatus.INPUT_REQUIRED)
    assert wish.questions["model"].kind == "unsupported"


async def test_a_server_killed_and_started_again_goes_on_with_its_tasks(stage: Stage) -> None:
    handle = await stage.begin("slow", seconds=0.5, label="report")
    stage.peer.kill()
    away = await stage.driver.poll(handle, SECONDS)
    assert isinstance(away, Trouble)
    assert away.passing
    stage.peer.start()
    ended = await ended_by(stage.driver, handle)
    assert ended.product is not None
    assert "slow done report" in str(ended.product.data)


async def test_a_task_begun_by_a_process_that_was_killed_is_finished_by_another(stage: Stage) -> None:
    code = BEGIN.format(url=stage.peer.url, folder=str(stage.folder))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    handle = Handle(**json.loads(await process.stdout.readline()))
    process.kill()
    await process.wait()
    assert (await ended_by(stage.driver, handle)).status is RemoteStatus.COMPLETED


BEGIN = """
import asyncio, dataclasses, json, pathlib
from outlast.adapters.execution.validation import compiled, problems_in
from outlast.adapters.mcp.config import ServerConfig
from outlast.adapters.mcp.servers import McpServers
from outlast.testing.contexts import tool_context

async def main():
    tools = await McpServers(compiled, problems_in).tools(ServerConfig(name="peer", url="{url}", timeout_seconds=10))
    handle = await tools["peer__slow"].run({{"seconds": 0.5}}, tool_context(pathlib.Path("{folder}")))
    print(json.dumps(dataclasses.asdict(handle)), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_handle_survives_being_stored(stage: Stage) -> None:
    handle = await stage.begin("slow", seconds=0)
    stored = Handle(**json.loads(json.dumps(asdict(handle))))
    assert stored == handle
    assert (await ended_by(stage.driver, stored)).status is RemoteStatus.COMPLETED
