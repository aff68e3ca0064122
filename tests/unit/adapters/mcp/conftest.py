"""Servers under test, closed when the test ends."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from outlast.adapters.execution.validation import compiled, problems_in
from outlast.adapters.mcp.config import ServerConfig
from outlast.adapters.mcp.servers import McpServers
from tests.mcp_peers import stdio_peer

PEER = str(stdio_peer.__file__)

Configure = Callable[..., ServerConfig]


@pytest.fixture
async def servers() -> AsyncIterator[McpServers]:
    """The servers of a process."""
    made = McpServers(compiled, problems_in)
    yield made
    await made.close()


@pytest.fixture
def peer(tmp_path: Path) -> Configure:
    """A configuration of the peer that behaves badly over stdio."""

    def configured(paging: str = "", **more: object) -> ServerConfig:
        about: dict[str, object] = {"name": "peer", "timeout_seconds": 20.0, **more}
        environment = {
            "COUNT_FILE": str(tmp_path / "calls"),
            "LISTS_FILE": str(tmp_path / "lists"),
            "PEER_KEY": "a-secret-of-the-peer",
        }
        return ServerConfig(command=sys.executable, args=(PEER, paging), env=environment, **about)  # type: ignore[arg-type]

    return configured
