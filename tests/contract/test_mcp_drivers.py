"""The drivers of MCP tasks keep the contract, against real servers behind real addresses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.execution.validation import compiled, problems_in
from outlast.adapters.mcp.config import ServerConfig, TaskTools
from outlast.adapters.mcp.servers import McpServers
from outlast.ports.background_driver import Answer, Handle
from outlast.testing.contexts import tool_context
from outlast.testing.contracts.background_driver import BackgroundDriverContract, Course, DriverSubject
from tests.mcp_peers.old_tasks_peer import old_tasks_peer
from tests.mcp_peers.running import RunningPeer

KINDS = {"completes": "slow", "goes_on": "slow", "asks": "confirm", "fails": "breaks"}
TRIPLE = TaskTools(submit="start_job", status="job_status", cancel="cancel_job", answer="answer_job")


@pytest.fixture
async def two() -> AsyncIterator[tuple[McpServers, McpServers]]:
    """The servers of two processes that share nothing."""
    made = McpServers(compiled, problems_in), McpServers(compiled, problems_in)
    yield made
    for servers in made:
        await servers.close()


async def begun(servers: McpServers, config: ServerConfig, tool: str, path: Path, **arguments: Any) -> Handle:
    """The handle that a call of a server's tool gives."""
    tools = await servers.tools(config)
    handle = await tools[f"{config.name}__{tool}"].run(arguments, tool_context(path))
    assert isinstance(handle, Handle)
    return handle


def drivers(
    two: tuple[McpServers, McpServers],
    kind: str,
    config: ServerConfig,
    begin: Callable[[Course], Awaitable[Handle]],
    unplug: Callable[[], None],
) -> DriverSubject:
    driver, another = (servers.driver(kind, config) for servers in two)
    answer = Answer("accept", {"confirm": True})
    return DriverSubject(driver=driver, another=another, begin=begin, answer=answer, unplug=unplug)


class TestTasksOfTheExtension(BackgroundDriverContract):
    @pytest.fixture
    def subject(self, two: tuple[McpServers, McpServers], tmp_path: Path) -> Any:
        with RunningPeer(tmp_path) as peer:
            config = ServerConfig(name="peer", url=peer.url)

            async def begin(course: Course) -> Handle:
                seconds = 60 if course == "goes_on" else 0.1
                return await begun(two[0], config, KINDS[course], tmp_path, seconds=seconds)

            yield drivers(two, "mcp_tasks", config, begin, peer.kill)


class TestTasksMadeOfTools(BackgroundDriverContract):
    @pytest.fixture
    def subject(self, two: tuple[McpServers, McpServers], tmp_path: Path) -> Any:
        with RunningPeer(tmp_path) as peer:
            config = ServerConfig(name="peer", url=peer.url, task_tools=(TRIPLE,))

            async def begin(course: Course) -> Handle:
                seconds = 60 if course == "goes_on" else 0.1
                return await begun(two[0], config, "start_job", tmp_path, kind=KINDS[course], seconds=seconds)

            yield drivers(two, "mcp_tools", config, begin, peer.kill)


class TestExperimentalTasks(BackgroundDriverContract):
    @pytest.fixture
    async def subject(
        self, two: tuple[McpServers, McpServers], tmp_path: Path
    ) -> AsyncIterator[DriverSubject]:
        async with old_tasks_peer() as peer:
            config = ServerConfig(name="peer", url=peer.url, has_experimental_tasks=True)
            tools = {"completes": "quick", "goes_on": "long", "asks": "asks", "fails": "fails"}

            async def begin(course: Course) -> Handle:
                return await begun(two[0], config, tools[course], tmp_path)

            yield drivers(two, "mcp_experimental", config, begin, peer.unplug)
            for servers in two:
                await servers.close()
