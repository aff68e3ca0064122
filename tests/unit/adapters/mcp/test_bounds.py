"""What a server may say at once: so much and no more, and what nobody can read is told as that."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.mcp.lines import MOST_MESSAGE_BYTES
from outlast.adapters.mcp.servers import McpServers
from outlast.domain.errors import Passing, ToolTrouble
from outlast.testing.contexts import tool_context
from tests.fake_endpoint import Received, Reply, Then, json_reply, playing
from tests.unit.adapters.mcp.conftest import Configure
from tests.unit.adapters.mcp.test_http_servers import Legacy, at, go, said
from tests.unit.adapters.mcp.test_stdio_servers import called, children


async def test_a_line_without_end_is_read_so_far_and_no_further_and_its_program_killed(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    others = children()
    tools = await servers.tools(peer())
    with pytest.raises(Passing) as flooded:
        await called(tools["peer__endless"], tmp_path)
    assert flooded.value.code == "outcome_unknown"
    assert "more than the 64 MiB" in flooded.value.detail
    assert (await called(tools["peer__echo"], tmp_path, text="again")).data == "again"
    await servers.close()
    assert children() <= others
    written = sum(map(int, (tmp_path / "calls").read_text().split()))
    assert MOST_MESSAGE_BYTES - 2_000_000 < written < MOST_MESSAGE_BYTES + 2_000_000


async def test_a_program_that_greets_with_a_line_without_end_is_greeted_once(
    servers: McpServers, peer: Configure
) -> None:
    others = children()
    with pytest.raises(ToolTrouble) as flooded:
        await servers.tools(peer("flood"))
    assert "more than the 64 MiB" in flooded.value.detail
    await servers.close()
    assert children() <= others


@pytest.mark.parametrize("tool", ["unreadable", "broken"])
async def test_an_answer_nobody_can_read_is_told_at_once_and_as_what_it_is(
    servers: McpServers, peer: Configure, tmp_path: Path, tool: str
) -> None:
    tools = await servers.tools(peer())
    with pytest.raises(ToolTrouble) as unread:
        await asyncio.wait_for(called(tools[f"peer__{tool}"], tmp_path), 10)
    assert unread.value.code == "mcp_call_failed"
    assert "cannot be read" in unread.value.detail
    assert (await called(tools["peer__echo"], tmp_path, text="still here")).data == "still here"


def events(*pieces: bytes | Then) -> Reply:
    return Reply(pieces, 200, {"content-type": "text/event-stream"})


def without_end(opening: bytes) -> Iterable[bytes | Then]:
    yield opening
    for _ in range(2 * MOST_MESSAGE_BYTES // 1_000_000):
        yield b"x" * 1_000_000
    raise AssertionError("more was read than may be")


@pytest.mark.parametrize(
    ("kind", "opening"),
    [
        ("application/json", b'{"jsonrpc":"2.0","id":1,"result":{"a":"'),
        ("text/event-stream", b"data: "),
        ("text/event-stream", b": a remark "),
    ],
)
async def test_an_answer_without_end_is_read_so_far_and_no_further(
    servers: McpServers, tmp_path: Path, kind: str, opening: bytes
) -> None:
    async with playing(
        Legacy(call=lambda request, _: Reply(without_end(opening), 200, {"content-type": kind}))
    ) as endpoint:
        config = at(endpoint)
        tool = (await servers.tools(config))["web__go"]
        connection = await servers.server(config).connection()
        with pytest.raises(ToolTrouble) as flooded:
            await tool.run({}, tool_context(tmp_path))
        assert "more than the 64 MiB" in flooded.value.detail
        assert connection.is_open
        await servers.close()


async def test_one_event_may_be_as_large_as_an_answer(servers: McpServers, tmp_path: Path) -> None:
    words = "word " * 600_000

    def streamed(request: Received, arguments: dict[str, Any]) -> Reply:
        (body,) = said(request, words).pieces
        assert isinstance(body, bytes)
        return events(b"data: " + body + b"\n\n")

    async with playing(Legacy(call=streamed)) as endpoint:
        assert (await go(servers, at(endpoint), tmp_path)).data == words
        await servers.close()


async def test_a_compressed_answer_is_refused_since_no_bound_holds_for_it(
    servers: McpServers, tmp_path: Path
) -> None:
    packed = gzip.compress(b" " * 10 * MOST_MESSAGE_BYTES, 1)
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    async with playing(Legacy(call=lambda request, _: Reply([packed], 200, headers))) as endpoint:
        with pytest.raises(ToolTrouble) as refused:
            await go(servers, at(endpoint), tmp_path)
        assert "compressed" in refused.value.detail
        await servers.close()


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        (Reply([b'{"jsonrpc": "2.0", "id": '], 200, {"content-type": "application/json"}), "cannot be read"),
        (json_reply({"jsonrpc": "2.0", "id": 7_777, "result": {"content": []}}), "no answer to the request"),
        (json_reply({"jsonrpc": "2.0", "method": "notifications/message"}), "no answer to the request"),
        (events(b'data: {"jsonrpc": "2.0", "id": 1, "result": []}\n\n'), "cannot be read"),
    ],
)
async def test_an_answer_nobody_can_read_is_told_as_what_it_is(
    servers: McpServers, tmp_path: Path, reply: Reply, word: str
) -> None:
    async with playing(Legacy(call=lambda request, _: reply)) as endpoint:
        with pytest.raises(ToolTrouble) as unread:
            await go(servers, at(endpoint, timeout_seconds=1.0), tmp_path)
        assert unread.value.code == "mcp_call_failed"
        assert word in unread.value.detail
        await servers.close()
