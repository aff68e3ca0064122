"""What we promise holds with servers that others wrote: plain tools, both kinds of tasks, kills and restarts."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.mcp.config import ServerConfig
from outlast.adapters.mcp.servers import McpServers
from outlast.ports.background_driver import Answer, Forgotten, Handle, RemoteStatus, Trouble
from outlast.ports.tool import ToolResult
from outlast.testing.contexts import tool_context
from outlast.testing.contracts.background_driver import ended_by, seen_by
from outlast.testing.servers.ports import free_port
from outlast.testing.servers.redis import RedisServer, find_binary
from tests.mcp_peers.tasks_kept import pause

pytestmark = pytest.mark.peers

SECONDS = 10.0
REDELIVERY_SECONDS = 180.0
"""How long it may take until the tasks of a killed FastMCP are taken up again."""


@asynccontextmanager
async def listening(words: list[str], port: int, **environ: str) -> AsyncIterator[subprocess.Popen[bytes]]:
    """A process, once something listens on its port; it is killed at the end."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(words, env={**os.environ, **environ}, **quiet)  # noqa: ASYNC220
    try:
        async with asyncio.timeout(30):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0)
                else:
                    writer.close()
                    break
        yield process
    finally:
        process.kill()
        process.wait()


async def result(servers: McpServers, config: ServerConfig, tool: str, **arguments: Any) -> Any:
    tools = await servers.tools(config)
    return await tools[f"{config.name}__{tool}"].run(arguments, tool_context(Path()))


async def test_files_are_read_inside_the_folder_and_nowhere_else(
    servers: McpServers, npm_servers: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("hello file")
    command = str(npm_servers / "mcp-server-filesystem")
    config = ServerConfig(name="fs", command=command, args=(str(tmp_path),))
    read = await result(servers, config, "read_text_file", path=str(tmp_path / "a.txt"))
    assert read.data == {"content": "hello file"}
    refused = await result(servers, config, "read_text_file", path="/etc/hostname")
    assert not refused.success


async def test_what_was_remembered_is_found(servers: McpServers, npm_servers: Path, tmp_path: Path) -> None:
    environment = {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}
    config = ServerConfig(name="mem", command=str(npm_servers / "mcp-server-memory"), env=environment)
    ada = {"name": "Ada", "entityType": "person", "observations": ["likes maths"]}
    await result(servers, config, "create_entities", entities=[ada])
    found = await result(servers, config, "search_nodes", query="Ada")
    assert found.data["entities"] == [ada]


async def test_everything_that_can_be_in_a_result(servers: McpServers, npm_servers: Path) -> None:
    config = ServerConfig(name="ev", command=str(npm_servers / "mcp-server-everything"), args=("stdio",))
    assert isinstance(echoed := await result(servers, config, "echo", message="hi"), ToolResult)
    assert "hi" in echoed.data
    assert "kept as artifact" in (await result(servers, config, "get-tiny-image")).data
    structured = await result(servers, config, "get-structured-content", location="New York")
    assert set(structured.data) == {"temperature", "conditions", "humidity"}


async def test_an_experimental_task_is_asked_about_and_answered_by_other_processes(
    servers: McpServers, npm_servers: Path
) -> None:
    port = free_port()
    words = [str(npm_servers / "mcp-server-everything"), "streamableHttp"]
    config = ServerConfig(name="ev", url=f"http://127.0.0.1:{port}/mcp", has_experimental_tasks=True)
    async with listening(words, port, PORT=str(port)):
        handle = await result(servers, config, "simulate-research-query", topic="python", ambiguous=True)
        assert isinstance(handle, Handle)
        await servers.close()
        driver = servers.driver("mcp_experimental", config)
        asked = await seen_by(driver, handle, RemoteStatus.INPUT_REQUIRED)
        [key] = asked.questions
        await servers.close()
        driver = servers.driver("mcp_experimental", config)
        await driver.answer(handle, {key: Answer("accept", {"interpretation": "snake"})}, SECONDS)
        ended = await ended_by(driver, handle)
    assert "snake" in str(ended.product)
    assert isinstance(await driver.poll(handle, SECONDS), Trouble)
    async with listening(words, port, PORT=str(port)):
        assert isinstance(await driver.poll(handle, SECONDS), Forgotten)


@pytest.fixture
def docket() -> Iterator[str]:
    """The address of a Redis for FastMCP's tasks."""
    with RedisServer(find_binary("valkey"), port=free_port()) as server:
        yield server.url


async def test_a_task_of_fastmcp_survives_its_server(
    servers: McpServers, fastmcp_python: Path, docket: str
) -> None:
    port = free_port()
    words = [str(fastmcp_python), str(Path(__file__).parent / "fastmcp_server.py"), str(port)]
    config = ServerConfig(name="fm", url=f"http://127.0.0.1:{port}/mcp")
    async with listening(words, port, FASTMCP_DOCKET_URL=docket):
        handle = await result(servers, config, "slow", seconds=2, label="a")
        assert isinstance(handle, Handle)
    driver = servers.driver("mcp_tasks", config)
    assert isinstance(await driver.poll(handle, SECONDS), Trouble)
    async with listening(words, port, FASTMCP_DOCKET_URL=docket):
        async with asyncio.timeout(REDELIVERY_SECONDS):
            while (seen := await seen_by(driver, handle)).status is RemoteStatus.WORKING:
                await pause(0.2)
        assert "slow done a" in str(seen.product)
        asking = await result(servers, config, "ask")
        asked = await seen_by(driver, asking, RemoteStatus.INPUT_REQUIRED)
        assert asking.remote_id not in str(asked)
        [key] = asked.questions
        await driver.answer(asking, {key: Answer("accept", {"name": "Ada"})}, SECONDS)
        assert "hello Ada" in str((await ended_by(driver, asking)).product)
