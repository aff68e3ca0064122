"""Servers behind an address: sessions get lost, tokens refused, connections cut, and one request's trouble stays its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.mcp.config import ClientCredentials, ServerConfig
from outlast.adapters.mcp.servers import McpServers
from outlast.domain.errors import OutlastError, Passing, ToolTrouble
from outlast.ports.tool import ToolResult
from outlast.testing.contexts import tool_context
from tests.fake_endpoint import FakeEndpoint, Received, Reply, Then, json_reply, playing
from tests.patience import PATIENCE_SECONDS

Call = Callable[[Received, dict[str, Any]], Reply]


def result(request: Received, value: dict[str, Any], **headers: str) -> Reply:
    return json_reply({"jsonrpc": "2.0", "id": request.body["id"], "result": value}, **headers)


def refusal(request: Received, code: int, message: str, status: int) -> Reply:
    error = {"code": code, "message": message}
    return json_reply({"jsonrpc": "2.0", "id": request.body.get("id"), "error": error}, status)


def said(request: Received, words: str) -> Reply:
    return result(request, {"content": [{"type": "text", "text": words}]})


@dataclass
class Legacy:
    """A server of 2025-11-25 with sessions; `call` answers calls of its one tool, `lost` is how it refuses old sessions."""

    call: Call = lambda request, arguments: said(request, "done")
    lost: Callable[[Received], Reply] = lambda request: refusal(request, -32001, "Session not found", 404)
    effect: dict[str, Any] = field(default_factory=dict)
    schema: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    has_sessions: bool = True
    sessions: int = 0
    methods: list[str] = field(default_factory=list)

    def forget(self) -> None:
        self.sessions += 100

    def __call__(self, request: Received) -> Reply:
        method = request.body.get("method", "")
        self.methods.append(method)
        if method == "initialize":
            self.sessions += 1
            told = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"},
            }
            named = {"mcp_session_id": str(self.sessions)} if self.has_sessions else {}
            return result(request, told, **named)
        if not method:
            return json_reply({}, 405)
        if method == "server/discover":
            return refusal(request, -32601, "Method not found", 200)
        if self.has_sessions and request.headers.get("mcp-session-id") != str(self.sessions):
            return self.lost(request)
        if method == "tools/list":
            tool = {"name": "go", "inputSchema": self.schema, "annotations": self.effect}
            return result(request, {"tools": [tool]})
        if method == "tools/call":
            return self.call(request, request.body["params"].get("arguments") or {})
        return Reply(status=202)


def at(endpoint: FakeEndpoint, **more: Any) -> ServerConfig:
    about: dict[str, Any] = {"name": "web", "timeout_seconds": 10.0, **more}
    return ServerConfig(url=endpoint.base_url, **about)


async def go(servers: McpServers, config: ServerConfig, path: Path) -> ToolResult:
    tool = (await servers.tools(config))["web__go"]
    return await tool.run({}, tool_context(path))


async def test_a_server_behind_an_address_is_used(servers: McpServers, tmp_path: Path) -> None:
    async with playing(Legacy()) as endpoint:
        headers = {"authorization": "Bearer the-token-of-this-test"}
        answer = await go(servers, at(endpoint, headers=headers), tmp_path)
        assert answer.data == "done"
        assert all(one.headers["authorization"] == headers["authorization"] for one in endpoint.received)
        await servers.close()


@pytest.mark.parametrize(
    "lost",
    [
        lambda request: refusal(request, -32001, "Session not found", 404),
        lambda request: json_reply({}, 404),
        lambda request: refusal(request, -32000, "Bad Request: No valid session ID provided", 400),
        lambda request: json_reply({"error": "No valid session ID provided"}, 400),
    ],
)
async def test_g08_02_a_lost_session_is_begun_anew_once_and_the_refused_call_sent_again(
    servers: McpServers, tmp_path: Path, lost: Callable[[Received], Reply]
) -> None:
    peer = Legacy(lost=lost)
    async with playing(peer) as endpoint:
        config = at(endpoint)
        tool = (await servers.tools(config))["web__go"]
        peer.forget()
        peer.methods.clear()
        answers = await asyncio.gather(*(tool.run({}, tool_context(tmp_path)) for _ in range(5)))
        assert [answer.data for answer in answers] == ["done"] * 5
        assert peer.methods.count("initialize") == 1
        await servers.tools(config)
        assert peer.methods.count("tools/list") == 1
        await servers.close()


async def test_g08_02_a_server_that_has_no_time_for_a_session_is_given_a_new_one(
    servers: McpServers, tmp_path: Path
) -> None:
    peer = Legacy(lost=lambda request: json_reply({}, 503), effect={"readOnlyHint": True})
    async with playing(peer) as endpoint:
        tool = (await servers.tools(at(endpoint)))["web__go"]
        peer.forget()
        for _ in range(2):
            with pytest.raises(Passing):
                await tool.run({}, tool_context(tmp_path))
        assert (await tool.run({}, tool_context(tmp_path))).data == "done"
        assert peer.methods.count("initialize") == 2
        await servers.close()


async def test_g08_02_a_404_without_a_session_is_no_lost_session(servers: McpServers, tmp_path: Path) -> None:
    peer = Legacy(call=lambda request, _: refusal(request, -32602, "No such thing", 404))
    peer.has_sessions = False
    async with playing(peer) as endpoint:
        with pytest.raises(ToolTrouble) as failed:
            await go(servers, at(endpoint), tmp_path)
        assert "No such thing" in failed.value.detail
        assert peer.methods.count("initialize") == peer.methods.count("tools/call") == 1
        await servers.close()


async def test_g08_07_what_a_schema_refers_to_elsewhere_is_never_fetched(
    servers: McpServers, tmp_path: Path
) -> None:
    peer = Legacy()
    async with playing(peer) as endpoint:
        where = endpoint.base_url.removesuffix("/v1") + "/schema"
        peer.schema = {"type": "object", "properties": {"a": {"$ref": where}}, "$schema": where}
        listing = await servers.listing(at(endpoint))
        assert [tool.problem is None for tool in listing.tools] == [False]
        assert {one.path for one in endpoint.received} == {"/v1"}
        await servers.close()


async def test_g08_01_calls_under_way_fail_at_once_when_a_server_behind_an_address_dies(
    servers: McpServers, tmp_path: Path
) -> None:
    async with playing(Legacy(call=lambda request, _: Reply([Then.HANG], 200))) as other:
        there = (await servers.tools(at(other, name="other")))["other__go"]
        elsewhere = asyncio.ensure_future(there.run({}, tool_context(tmp_path)))
        endpoint = FakeEndpoint(Legacy(call=lambda request, _: Reply([Then.HANG], 200)))
        listening = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
        endpoint.base_url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        tool = (await servers.tools(at(endpoint)))["web__go"]
        calls = [asyncio.ensure_future(tool.run({}, tool_context(tmp_path))) for _ in range(3)]
        async with asyncio.timeout(5):
            while sum(one.body.get("method") == "tools/call" for one in endpoint.received) < 3:
                await endpoint.hanging.wait()
                await asyncio.sleep(0)
        listening.close()
        await endpoint.end()
        done, late = await asyncio.wait(calls, timeout=5)
        assert not late
        assert {one.exception().code for one in done} == {"outcome_unknown"}  # type: ignore[union-attr]
        assert not elsewhere.done()
        elsewhere.cancel()
        await servers.close()
        await asyncio.wait({elsewhere}, timeout=5)


async def test_g08_02_an_error_of_a_tool_loses_no_session(servers: McpServers, tmp_path: Path) -> None:
    peer = Legacy(call=lambda request, _: refusal(request, -32001, "Session of the user expired", 200))
    async with playing(peer) as endpoint:
        with pytest.raises(ToolTrouble):
            await go(servers, at(endpoint), tmp_path)
        assert peer.methods.count("initialize") == peer.methods.count("tools/call") == 1
        await servers.close()


@pytest.mark.parametrize("status", [401, 403])
async def test_refused_credentials_are_named_without_telling_them(servers: McpServers, status: int) -> None:
    async with playing(json_reply({"error": "who are you"}, status)) as endpoint:
        with pytest.raises(ToolTrouble) as refused:
            await servers.tools(at(endpoint, headers={"authorization": "Bearer the-token-of-this-test"}))
        assert refused.value.code == "mcp_refused"
        assert str(status) in refused.value.detail
        assert "mcp_servers.web.headers" in refused.value.next_step
        assert "the-token-of-this-test" not in str(refused.value)


async def test_an_address_where_nobody_listens_is_named(servers: McpServers) -> None:
    config = ServerConfig(name="web", url="http://user:pass@127.0.0.1:9/mcp?key=hidden")
    with pytest.raises(Passing) as failed:
        await servers.tools(config)
    assert failed.value.code == "mcp_unavailable"
    assert "127.0.0.1:9/mcp" in failed.value.detail
    assert "hidden" not in str(failed.value)
    assert "pass@" not in str(failed.value)


async def test_a_page_that_is_no_server_is_named(servers: McpServers) -> None:
    async with playing(Reply([b"not here"], 404, {"content-type": "text/plain"})) as endpoint:
        with pytest.raises(OutlastError) as failed:
            await servers.tools(at(endpoint))
        assert "mcp_servers.web.url" in failed.value.next_step


@pytest.mark.parametrize("is_reading", [False, True])
async def test_a_call_cut_off_half_way_fails_alone_and_is_not_sent_again(
    servers: McpServers, tmp_path: Path, is_reading: bool
) -> None:
    peer = Legacy(
        call=lambda request, _: Reply([b'{"jsonrpc"', Then.DROP], 200, {"content-type": "application/json"})
    )
    peer.effect = {"readOnlyHint": True} if is_reading else {}
    async with playing(peer) as endpoint:
        config = at(endpoint)
        tool = (await servers.tools(config))["web__go"]
        connection = await servers.server(config).connection()
        with pytest.raises(Passing) as failed:
            await tool.run({}, tool_context(tmp_path))
        assert failed.value.code == ("mcp_unavailable" if is_reading else "outcome_unknown")
        assert peer.methods.count("tools/call") == 1
        assert connection.is_open
        await servers.close()


async def test_a_hanging_call_holds_up_no_other(servers: McpServers, tmp_path: Path) -> None:
    hangs = Reply([Then.HANG], 200, {"content-type": "text/event-stream"})
    peer = Legacy(
        call=lambda request, _: hangs if peer.methods.count("tools/call") == 1 else said(request, "done")
    )
    async with playing(peer) as endpoint:
        tool = (await servers.tools(at(endpoint)))["web__go"]
        hanging = asyncio.ensure_future(tool.run({}, tool_context(tmp_path)))
        await asyncio.wait_for(endpoint.hanging.wait(), PATIENCE_SECONDS)
        assert (await tool.run({}, tool_context(tmp_path))).data == "done"
        hanging.cancel()
        await asyncio.wait({hanging}, timeout=PATIENCE_SECONDS)
        await servers.close()


async def test_a_request_that_cannot_be_sent_ends_no_other(servers: McpServers, tmp_path: Path) -> None:
    endpoint = FakeEndpoint(Legacy(call=lambda request, _: Reply([Then.HANG], 200)))
    listening = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    endpoint.base_url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    config = at(endpoint)
    tool = (await servers.tools(config))["web__go"]
    connection = await servers.server(config).connection()
    hanging = asyncio.ensure_future(tool.run({}, tool_context(tmp_path)))
    await asyncio.wait_for(endpoint.hanging.wait(), PATIENCE_SECONDS)
    listening.close()
    failures = 0
    for _ in range(3):  # connections that are kept alive may carry the first of these
        other = asyncio.ensure_future(tool.run({}, tool_context(tmp_path)))
        done, _pending = await asyncio.wait({other}, timeout=2)
        failures += sum(isinstance(one.exception(), Passing) for one in done)
    assert failures
    assert connection.is_open
    assert not hanging.done()
    await servers.close()
    await asyncio.wait({hanging}, timeout=PATIENCE_SECONDS)


async def test_a_busy_server_is_passing_trouble(servers: McpServers, tmp_path: Path) -> None:
    peer = Legacy(call=lambda request, _: json_reply({}, 503, retry_after="7"), effect={"readOnlyHint": True})
    async with playing(peer) as endpoint:
        with pytest.raises(Passing) as busy:
            await go(servers, at(endpoint), tmp_path)
        assert busy.value.code == "mcp_unavailable"
        await servers.close()


class Authorizing:
    """A server that wants tokens, and the authorization server that gives them, at one address."""

    def __init__(self) -> None:
        self.inner = Legacy()
        self.tokens = 0
        self.base = ""

    def __call__(self, request: Received) -> Reply:
        path = request.path
        if "oauth-protected-resource" in path:
            return json_reply({"resource": f"{self.base}/v1", "authorization_servers": [self.base]})
        if "well-known" in path:
            return json_reply(
                {
                    "issuer": self.base,
                    "authorization_endpoint": f"{self.base}/authorize",
                    "token_endpoint": f"{self.base}/token",
                    "grant_types_supported": ["client_credentials"],
                    "response_types_supported": ["code"],
                }
            )
        if path == "/token":
            self.tokens += 1
            return json_reply({"access_token": "good", "token_type": "Bearer", "expires_in": 3600})
        if request.headers.get("authorization") != "Bearer good":
            where = f'Bearer resource_metadata="{self.base}/.well-known/oauth-protected-resource"'
            return json_reply({}, 401, www_authenticate=where)
        return self.inner(request)


def _credentials(issuer: str) -> ClientCredentials:
    return ClientCredentials(client_id="outlast", client_secret="a-secret-of-the-client", issuer=issuer)


def _with_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint reads bodies as JSON; a form is none, and what it holds does not matter here."""
    import tests.fake_endpoint as fake

    def loads(text: bytes) -> Any:
        return original(text) if text[:1] in (b"{", b"[") else {}

    original = fake.json.loads
    monkeypatch.setattr(fake.json, "loads", loads)


async def test_tokens_are_had_with_the_clients_credentials(
    servers: McpServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_forms(monkeypatch)
    peer = Authorizing()
    async with playing(peer) as endpoint:
        peer.base = endpoint.base_url.removesuffix("/v1")
        assert (await go(servers, at(endpoint, oauth=_credentials(peer.base)), tmp_path)).data == "done"
        assert peer.tokens == 1
        await servers.close()


async def test_tokens_of_another_issuer_are_refused_and_the_reason_told(
    servers: McpServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_forms(monkeypatch)
    peer = Authorizing()
    async with playing(peer) as endpoint:
        peer.base = endpoint.base_url.removesuffix("/v1")
        with pytest.raises(ToolTrouble) as refused:
            await servers.tools(at(endpoint, oauth=_credentials("http://127.0.0.1:9")))
        assert refused.value.code == "mcp_refused"
        assert "oauth" in refused.value.next_step
        assert "a-secret-of-the-client" not in str(refused.value)
