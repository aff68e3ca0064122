"""Directories for the command line."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.command_line import ROOT, Home


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """An empty directory."""
    made = Home(tmp_path)
    yield made
    made.close()


@pytest.fixture
def talking(home: Home) -> Home:
    """A scripted conversation: the task `talk` may send a letter, ask a person, and wait until a file `go` is there."""
    home.write("outlast.yaml", "llm: {provider: scripted, script: script.yaml}\ntools: {paths: [tools]}\n")
    home.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: [send, hold, ask_human]}\n")
    home.write("tools/letters.py", TOOLS)
    return home


@pytest.fixture
def library(home: Home) -> Home:
    """A copy of the research example."""
    shutil.copytree(
        ROOT / "examples/research", home.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".outlast")
    )
    return home


TOOLS = '''
import asyncio
from pathlib import Path

from outlast.tools import tool

HERE = Path(__file__).resolve().parent.parent


@tool(effect="once")
async def send(to: str, body: str) -> str:
    """Send a letter."""
    with (HERE / "sent.txt").open("a") as sent:
        sent.write(f"{to}: {body}\\n")
    return f"sent to {to}"


@tool(effect="read", timeout_seconds=60)
async def hold() -> str:
    """Wait until the file `go` is there."""
    while not (HERE / "go").exists():
        await asyncio.sleep(0.02)
    return "held"
'''
