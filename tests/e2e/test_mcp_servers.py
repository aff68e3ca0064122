"""Runs with tools of MCP servers, from the configuration to the report: names, rules, secrets, servers that are away."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from outlast import Harness
from outlast.domain.bounded import SHOWN_BYTES
from outlast.domain.errors import CallerMistake
from tests.e2e.command_line import Home
from tests.law import law
from tests.mcp_peers import stdio_peer

SECRET = "the-key-that-nobody-may-see"

TASK = """
task:
  name: peers
  workflow: chat
  tools: {tools}
  approvals: [{{tool: "{approved}"}}]
  max_tool_calls: {{"peer:echo": 1}}
"""


def configured(tmp_path: Path, calls: list[tuple[str, dict[str, Any]]], **task: str) -> Path:
    """A configuration with the peer that behaves badly, a task for it, and a script that makes these calls."""
    peer = {"command": sys.executable, "args": [str(stdio_peer.__file__)], "env": {"PEER_KEY": SECRET}}
    peer["args"].append(task.pop("paging", ""))  # type: ignore[attr-defined]
    peer["env"] |= {"COUNT_FILE": str(tmp_path / "calls"), "LISTS_FILE": str(tmp_path / "lists")}  # type: ignore[operator]
    servers = {"peer": peer, "gone": {"command": "no-such-program"}}
    settings = {"llm": {"provider": "scripted", "script": "script.json"}, "mcp_servers": servers}
    turns: list[dict[str, Any]] = [
        {"when": {"turn": turn}, "call": [{"tool": tool, "arguments": arguments}]}
        for turn, (tool, arguments) in enumerate(calls)
    ]
    turns.append({"when": {"turn": len(calls)}, "say": "Done."})
    (tmp_path / "outlast.yaml").write_text(json.dumps(settings))
    (tmp_path / "script.json").write_text(json.dumps(turns))
    (tmp_path / "tasks").mkdir()
    about = {"tools": '["peer:echo"]', "approved": "read_file", **task}
    (tmp_path / "tasks" / "peers.yaml").write_text(TASK.format(**about))
    return tmp_path / "outlast.yaml"


async def results(run: Any) -> list[dict[str, Any]]:
    """What the calls of a run came to, in order."""
    document = await run.result()
    assert document["state"] in ("COMPLETED", "WAITING"), document
    lines = [line async for line in run.events()] if document["state"] == "COMPLETED" else []
    return [line for line in lines if line["kind"] == "ToolAnswered"]


async def test_a_run_calls_a_servers_tool(tmp_path: Path) -> None:
    config = configured(tmp_path, [("peer__echo", {"text": "guten Tag"})])
    async with Harness.open(config) as harness:
        run = await harness.start(task="peers", input="go")
        answered = await results(run)
    assert "guten Tag" in json.dumps(answered)


async def test_every_tool_of_a_server_and_the_rules_for_one_of_them(tmp_path: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("peer__echo", {"text": "one"}),
        ("peer__echo", {"text": "two"}),
    ]
    config = configured(tmp_path, calls, tools='["peer:*"]')
    async with Harness.open(config) as harness:
        run = await harness.start(task="peers", input="go")
        first, second = await results(run)
    assert "one" in json.dumps(first)
    assert "limit_reached" in json.dumps(second)


async def test_an_approval_may_name_a_servers_tool(tmp_path: Path) -> None:
    config = configured(tmp_path, [("peer__echo", {"text": "one"})], approved="peer:*")
    async with Harness.open(config) as harness:
        run = await harness.start(task="peers", input="go")
        waiting = await run.result()
        assert waiting["state"] == "WAITING"
        await run.approve()
        assert "one" in json.dumps(await results(run))


async def test_a_task_whose_approval_its_server_has_no_tool_for_does_not_start(tmp_path: Path) -> None:
    async with Harness.open(configured(tmp_path, [], approved="peer:ecko")) as harness:
        with pytest.raises(CallerMistake, match="Did you mean peer:echo") as refused:
            await harness.start(task="peers", input="go")
        assert refused.value.code == "unknown_tool"


@pytest.mark.parametrize(
    ("tools", "code", "words"),
    [
        ('["peer:ecko"]', "unknown_tool", "peer:echo"),
        ('["peer:text_schema"]', "unknown_tool", "no usable tool"),
        ('["pear:echo"]', "unknown_tool", "peer"),
        ('["gone:*"]', "mcp_server_unavailable", "no-such-program"),
    ],
)
async def test_a_task_whose_tools_cannot_be_had_does_not_start(
    tmp_path: Path, tools: str, code: str, words: str
) -> None:
    async with Harness.open(configured(tmp_path, [], tools=tools)) as harness:
        with pytest.raises(CallerMistake) as refused:
            await harness.start(task="peers", input="go")
        assert refused.value.code == code
        assert words in str(refused.value)
        assert await harness.runs() == []


async def test_a_run_that_its_key_names_is_found_while_its_server_is_away(tmp_path: Path) -> None:
    config = configured(tmp_path, [])
    async with Harness.open(config) as harness:
        first = await harness.start(task="peers", input="go", key="k")
        await first.result()
    settings = json.loads(config.read_text())
    settings["mcp_servers"]["peer"] = {"command": "no-such-program"}
    config.write_text(json.dumps(settings))
    async with Harness.open(config) as harness:
        assert (await harness.start(task="peers", input="go", key="k")).run_id == first.run_id


CHANGING: list[tuple[str, dict[str, Any]]] = [("peer__echo", {"text": "still called"})]


async def test_g08_05_a_list_that_is_another_each_time_it_is_asked_for_keeps_no_run_from_its_tools(
    tmp_path: Path,
) -> None:
    config = configured(tmp_path, CHANGING, tools='["peer:*"]', paging="changing")
    async with Harness.open(config) as harness:
        run = await harness.start(task="peers", input="go")
        assert "still called" in json.dumps(await results(run))


async def test_g08_05_a_tool_its_server_took_away_is_missing_to_its_caller_and_not_to_the_run(
    tmp_path: Path,
) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [("peer__echo", {"text": "here"}), ("peer__new1", {})]
    config = configured(tmp_path, calls, tools='["peer:*"]', paging="changing", approved="peer:echo")
    async with Harness.open(config) as harness:
        run = await harness.start(task="peers", input="go")
        waiting = await run.result()
        assert waiting["state"] == "WAITING"
    async with Harness.open(config) as harness:  # a worker of another day, whose server lists other tools
        again = await harness.run(run.run_id)
        await again.approve()
        first, second = await results(again)
    assert "here" in json.dumps(first)
    assert "does not have the tool peer__new1 any more" in json.dumps(second)


async def test_g08_10_long_output_of_a_server_is_bounded_for_the_model_and_whole_on_demand(
    tmp_path: Path,
) -> None:
    config = configured(tmp_path, [("peer__big", {})], tools='["peer:big"]')
    async with Harness.open(config) as harness:
        run = await harness.start(task="peers", input="go")
        (answered,) = await results(run)
        shown = answered["result"]
        assert len(shown.encode()) <= SHOWN_BYTES
        assert "the error is here" in shown
        digests = re.findall(r"[0-9a-f]{64}", shown)
        kept = await harness.engine.store.read_payloads(digests)
    assert any(len(content) > 9_000_000 for content in kept.values())


async def test_g08_04_a_server_that_keeps_silent_holds_up_no_other(tmp_path: Path) -> None:
    config = configured(tmp_path, [], tools='["silent:*", "peer:echo"]')
    settings = json.loads(config.read_text())
    silent = {"command": sys.executable, "args": ["-c", "import time; time.sleep(600)"]}
    settings["mcp_servers"] = {"silent": {**silent, "ready_timeout_seconds": 600}, **settings["mcp_servers"]}
    config.write_text(json.dumps(settings))
    async with Harness.open(config) as harness:
        starting = asyncio.ensure_future(harness.start(task="peers", input="go"))
        async with asyncio.timeout(20):
            while not (tmp_path / "lists").exists():
                await asyncio.wait({starting}, timeout=0.05)
        assert not starting.done()
        starting.cancel()
        await asyncio.wait({starting})


@law("RUN-4.f")
async def test_a_once_call_whose_server_died_is_a_question_to_a_person(tmp_path: Path) -> None:
    config = configured(tmp_path, [("peer__count_and_die", {})], tools='["peer:count_and_die"]')
    async with Harness.open(config) as harness:
        run = await harness.start(task="peers", input="go")
        waiting = await run.result()
        assert waiting["state"] == "WAITING"
        assert "nobody knows" in json.dumps(waiting["waiting_for"])
        await run.answer("it happened")
        assert "it happened" in json.dumps(await results(run))
    assert (tmp_path / "calls").read_text().splitlines() == ["called"]


async def test_a_reading_call_whose_server_died_is_made_again(tmp_path: Path) -> None:
    config = configured(
        tmp_path, [("peer__count_and_die_reading", {})], tools='["peer:count_and_die_reading"]'
    )
    async with Harness.open(config, overrides={"harness.retry.base_seconds": 0}) as harness:
        run = await harness.start(task="peers", input="go")
        assert "tool_failed" in json.dumps(await results(run))
    assert len((tmp_path / "calls").read_text().splitlines()) == 3


async def test_secrets_of_a_server_stand_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("peer__echo", {"text": "one"}),
        ("peer__die", {}),
        ("peer__refuses", {}),
    ]
    config = configured(tmp_path, calls, tools='["peer:*"]')
    async with Harness.open(config, overrides={"harness.unknown_outcome": "error"}) as harness:
        run = await harness.start(task="peers", input="go")
        await results(run)
        shown = json.dumps([line async for line in run.events()])
    assert SECRET not in shown
    assert SECRET not in caplog.text
    stored = b"".join(file.read_bytes() for file in (tmp_path / ".outlast").rglob("*") if file.is_file())
    assert SECRET.encode() not in stored


async def test_only_servers_that_a_task_names_are_contacted(tmp_path: Path) -> None:
    config = configured(tmp_path, [], tools="[]")
    (tmp_path / "noting.sh").write_text(f"echo started >> {tmp_path}/started")
    settings = json.loads(config.read_text())
    settings["mcp_servers"] = {"noted": {"command": "sh", "args": ["noting.sh"]}}
    config.write_text(json.dumps(settings))
    async with Harness.open(config) as harness:
        run = await harness.start(task="peers", input="go")
        assert (await run.result())["answer"] == "Done."
    assert not (tmp_path / "started").exists()


def test_the_command_line_lists_tools_of_servers_and_says_what_is_wrong(home: Home) -> None:
    peer = {"command": sys.executable, "args": [str(stdio_peer.__file__)], "env": {"PEER_KEY": SECRET}}
    servers = {
        "peer": {**peer, "effects": {"fails": "read"}},
        "gone": {"command": "no-such-program"},
        "dark": {"url": "http://127.0.0.1:9/mcp"},
    }
    home.write("outlast.yaml", json.dumps({"mcp_servers": servers}))
    tools = {tool["name"]: tool for tool in home.here("tools", "list", "--json").document["tools"]}
    assert (tools["peer:echo"]["effect"], tools["peer:echo"]["model_name"]) == ("read", "peer__echo")
    assert (tools["peer:fails"]["effect"], tools["peer:die"]["effect"]) == ("read", None)
    assert "string" in tools["peer:text_schema"]["problem"]
    assert "no-such-program" in tools["gone:*"]["problem"]
    checked = home.here("tools", "check")
    assert checked.code == 2
    assert "warning: peer:die" in checked.out
    assert "mcp_servers.peer.effects" in checked.out
    assert "peer:echo" not in checked.out
    examined = home.here("doctor", "--json").document["checks"]
    about = {check["detail"].partition(":")[0]: check for check in examined if check["name"] == "mcp server"}
    assert (about["gone"]["status"], about["dark"]["status"]) == ("error", "error")
    assert "cannot be reached" in about["dark"]["detail"]
    assert "text_schema" in about["peer"]["detail"]
    assert SECRET not in json.dumps([examined, checked.out, list(tools.values())])
