"""Servers of other people, got from their registries once into `.peers`; nothing of it is there unless these tests are asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from outlast.adapters.execution.validation import compiled, problems_in
from outlast.adapters.mcp.servers import McpServers
from tests.page.building import environment

ROOT = Path(__file__).resolve().parents[3]
PEERS = ROOT / ".peers"
NPM = tuple(
    f"@modelcontextprotocol/server-{name}@2026.8.31" for name in ("everything", "filesystem", "memory")
)
PYTHON = ("fastmcp[tasks]==4.1.4",)


@pytest.fixture(scope="session")
def npm_servers() -> Path:
    """The folder of the commands of the servers that npm has."""
    commands = PEERS / "node_modules" / ".bin"
    if not (commands / "mcp-server-everything").exists():
        PEERS.mkdir(exist_ok=True)
        words = ["npm", "install", "--prefix", str(PEERS), "--no-audit", "--no-fund", *NPM]
        subprocess.run(words, check=True, env=environment(), timeout=400, stdout=subprocess.DEVNULL)
    return commands


@pytest.fixture(scope="session")
def fastmcp_python() -> Path:
    """A Python of its own with FastMCP, whose demands clash with those of this project."""
    python = PEERS / "venv" / "bin" / "python"
    if not python.exists():
        uv = str(Path(sys.executable).parent / "uv")
        subprocess.run([uv, "venv", "-q", "-p", sys.executable, str(PEERS / "venv")], check=True, timeout=60)
        words = [uv, "pip", "install", "-q", "--python", str(python), *PYTHON]
        subprocess.run(words, check=True, timeout=400)
    return python


@pytest.fixture
async def servers() -> AsyncIterator[McpServers]:
    """The servers of a process."""
    made = McpServers(compiled, problems_in)
    yield made
    await made.close()
