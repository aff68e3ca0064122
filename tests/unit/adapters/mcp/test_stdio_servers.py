"""Programs as servers: they crash, hang, chatter and lie, and nobody else suffers from it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from outlast.adapters.execution.validation import check_arguments
from outlast.adapters.mcp.config import ServerConfig
from outlast.adapters.mcp.failure import ServerFailure
from outlast.adapters.mcp.listing import MOST_TOOLS
from outlast.adapters.mcp.servers import McpServers
from outlast.domain.bounded import SHOWN_BYTES, bound
from outlast.domain.errors import Passing, ToolTrouble
from outlast.domain.tool_call import Effect
from outlast.ports.tool import Tool, ToolResult
from outlast.testing.contexts import tool_context
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.adapters.mcp.conftest import Configure

pytestmark = pytest.mark.both_loops


async def called(tool: Tool, path: Path, **arguments: object) -> ToolResult:
    answer = await tool.run(dict(arguments), tool_context(path))  # type: ignore[arg-type]
    assert isinstance(answer, ToolResult)
    return answer


def calls_in(path: Path) -> int:
    file = path / "calls"
    return len(file.read_text().splitlines()) if file.exists() else 0


async def test_tools_are_found_and_called(servers: McpServers, peer: Configure, tmp_path: Path) -> None:
    tools = await servers.tools(peer())
    answer = await called(tools["peer__echo"], tmp_path, text="guten Tag")
    assert (answer.success, answer.data) == (True, "guten Tag")


async def test_a_program_may_open_its_stderr_by_name(servers: McpServers, peer: Configure) -> None:
    direct = peer()
    script = 'echo waking > /dev/stderr && exec "$0" "$@"'
    wrapped = replace(direct, command="sh", args=("-c", script, str(direct.command), *direct.args))
    assert "peer__echo" in await servers.tools(wrapped)


@law("RUN-4.h")
async def test_annotations_become_effects(servers: McpServers, peer: Configure) -> None:
    tools = await servers.tools(peer())
    assert (tools["peer__echo"].effect, tools["peer__echo"].is_effect_declared) == (Effect.READ, True)
    assert tools["peer__count_and_die_same"].effect is Effect.IDEMPOTENT
    assert (tools["peer__die"].effect, tools["peer__die"].is_effect_declared) == (Effect.ONCE, False)


async def test_the_configuration_may_state_effects(servers: McpServers, peer: Configure) -> None:
    tools = await servers.tools(peer(), {"die": Effect.IDEMPOTENT})
    assert (tools["peer__die"].effect, tools["peer__die"].is_effect_declared) == (Effect.IDEMPOTENT, True)


async def test_g08_01_a_crash_fails_all_pending_calls_at_once_and_the_next_call_works(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    tools, others = await servers.tools(peer()), await servers.tools(peer(name="other"))
    elsewhere = asyncio.ensure_future(called(others["other__hang"], tmp_path))
    hanging = asyncio.ensure_future(called(tools["peer__hang"], tmp_path))
    with pytest.raises(Passing) as died:
        await called(tools["peer__die"], tmp_path)
    with pytest.raises(Passing) as waited:
        await asyncio.wait_for(hanging, PATIENCE_SECONDS)
    assert died.value.code == waited.value.code == "outcome_unknown"
    assert (await called(tools["peer__echo"], tmp_path, text="again")).data == "again"
    assert not elsewhere.done()
    elsewhere.cancel()


async def test_g08_01_the_end_of_a_program_is_seen_though_its_child_keeps_the_pipe(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    tools = await servers.tools(peer())
    hanging = asyncio.ensure_future(called(tools["peer__hang"], tmp_path))
    for ending in (called(tools["peer__orphan"], tmp_path), hanging):
        with pytest.raises(Passing) as died:
            await asyncio.wait_for(ending, 5)
        assert died.value.code == "outcome_unknown"
    assert (await called(tools["peer__echo"], tmp_path, text="again")).data == "again"
    await servers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "calls").read_text()), 0)


async def test_g08_01_a_program_that_says_nothing_is_ended_also_where_nobody_waits_for_it_any_more(
    servers: McpServers, tmp_path: Path
) -> None:
    silent = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    config = ServerConfig(name="peer", command=sys.executable, args=("-c", silent), ready_timeout_seconds=1.0)
    # The list is given up while the connection that was given up before is still being closed.
    with pytest.raises(ServerFailure, match="in time") as failed:
        await servers.server(config).listing(1.2)
    assert "ready_timeout_seconds" in failed.value.next_step
    async with asyncio.timeout(PATIENCE_SECONDS):
        await servers.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.parametrize(
    ("call_seconds", "ready_seconds", "limit_seconds"),
    [(30.0, None, 30.0), (5.0, None, 20.0), (300.0, None, 300.0), (300.0, 2.0, 2.0)],
)
def test_a_server_has_as_long_to_be_ready_as_is_configured(
    call_seconds: float, ready_seconds: float | None, limit_seconds: float
) -> None:
    config = ServerConfig(name="a", timeout_seconds=call_seconds, ready_timeout_seconds=ready_seconds)
    assert config.ready_seconds == limit_seconds


async def test_a_server_that_never_lists_its_tools_is_given_up_at_the_configured_limit(
    servers: McpServers, peer: Configure
) -> None:
    with pytest.raises(Passing) as late:
        await asyncio.wait_for(servers.tools(peer("silent", ready_timeout_seconds=1.5)), 10)
    assert late.value.code == "timeout"
    assert "ready_timeout_seconds" in late.value.next_step


@pytest.mark.parametrize("tool", ["count_and_die", "count_and_die_reading", "count_and_die_same"])
async def test_no_call_that_may_have_run_is_sent_again_here(
    servers: McpServers, peer: Configure, tmp_path: Path, tool: str
) -> None:
    tools = await servers.tools(peer())
    with pytest.raises(Passing) as failed:
        await called(tools[f"peer__{tool}"], tmp_path)
    assert calls_in(tmp_path) == 1
    assert failed.value.code == ("outcome_unknown" if tool == "count_and_die" else "mcp_unavailable")


async def test_a_server_that_keeps_crashing_is_left_alone_for_a_while(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    tools = await servers.tools(peer())
    codes = []
    for _ in range(6):
        with pytest.raises(Passing) as failed:
            await called(tools["peer__count_and_die_reading"], tmp_path)
        codes.append(failed.value.detail)
    assert calls_in(tmp_path) < 6
    assert "left alone" in codes[-1]


async def test_a_call_ends_at_its_deadline(servers: McpServers, peer: Configure, tmp_path: Path) -> None:
    tools = await servers.tools(peer(timeout_seconds=0.3))
    with pytest.raises(Passing) as late:
        await called(tools["peer__hang"], tmp_path)
    assert late.value.code == "timeout"
    assert "not known" in late.value.detail
    assert (await called(tools["peer__echo"], tmp_path, text="still here")).data == "still here"


async def test_a_cancelled_call_is_told_to_its_server_and_leaves_the_connection_to_others(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    tools = await servers.tools(peer())
    hanging = asyncio.ensure_future(called(tools["peer__hang"], tmp_path))
    assert (await called(tools["peer__echo"], tmp_path, text="here")).data == "here"
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert (await called(tools["peer__echo"], tmp_path, text="still here")).data == "still here"
    assert "cancelled" in (tmp_path / "calls").read_text()


@pytest.mark.parametrize(
    ("paging", "count"),
    [
        ("same", 8),
        ("empty", 8),
        ("abab", 8),
        ("fresh", 1),
        ("endless", 100),
        ("two", 8),
        ("crowd", MOST_TOOLS),
    ],
)
async def test_g08_04_paging_ends_whatever_the_cursors_say(
    servers: McpServers, peer: Configure, paging: str, count: int
) -> None:
    listing = await servers.listing(peer(paging))
    assert len(listing.tools) == len({tool.name for tool in listing.tools}) == count
    ends = {
        "same": "circles",
        "abab": "circles",
        "fresh": "circles",
        "endless": "pages",
        "crowd": "1000 tools",
    }
    assert ends.get(paging, "") in " ".join(listing.problems)
    assert bool(listing.problems) == (paging in ends)


async def test_g08_05_a_storm_of_changes_neither_holds_up_a_call_nor_asks_a_thousand_times(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    config = peer()
    tools = await servers.tools(config)
    before = await servers.listing(config)
    assert (await called(tools["peer__storm"], tmp_path)).data == "calm"
    after = await servers.listing(config)
    assert after is not before
    assert await servers.listing(config) is after
    assert (tmp_path / "lists").read_text().count("listed") == 2


async def test_g08_07_a_recursive_schema_is_kept_whole_and_checked(
    servers: McpServers, peer: Configure
) -> None:
    tool = (await servers.tools(peer()))["peer__recursive"]
    assert tool.input_schema["$defs"]
    assert "$schema" not in tool.input_schema
    arguments = {"q": {"n": None, "sub": {"n": 1}}}
    assert check_arguments(tool, arguments) == arguments  # type: ignore[arg-type]
    assert not isinstance(check_arguments(tool, {"q": {"n": "no number"}}), dict)


async def test_g08_08_a_broken_schema_disables_its_own_tool_alone(
    servers: McpServers, peer: Configure
) -> None:
    listing = await servers.listing(peer())
    problems = {tool.name: tool.problem for tool in listing.tools if tool.problem}
    assert set(problems) == {"text_schema", "remote_schema", "broken_schema"}
    assert "string" in str(problems["text_schema"])
    tools = await servers.tools(peer())
    for name in ("no_schema", "empty_schema", "null_schema", "true_schema", "bare_object"):
        assert tools[f"peer__{name}"].input_schema == {"type": "object", "properties": {}}


async def test_g08_09_binary_parts_become_artifacts_and_never_text(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    tool = (await servers.tools(peer()))["peer__image"]
    context = tool_context(tmp_path)
    answer = await tool.run({}, context)
    shown = json.dumps(answer.data)
    assert len(shown) < 1000
    digests = set(re.findall(r"[0-9a-f]{64}", shown))
    assert len(digests) == 1
    kept = await context.artifacts.get(digests.pop())
    assert kept is not None
    assert kept.startswith(b"\x89PNG")


async def test_g08_10_long_output_is_bounded_like_that_of_any_tool(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    answer = await called((await servers.tools(peer()))["peer__big"], tmp_path)
    shown = bound(answer.data).shown
    assert len(shown.encode()) <= SHOWN_BYTES
    assert shown.endswith("the error is here")


@pytest.mark.parametrize("tool", ["noise", "garbled"])
async def test_g08_11_lines_that_are_no_messages_are_skipped(
    servers: McpServers, peer: Configure, tmp_path: Path, tool: str
) -> None:
    assert (await called((await servers.tools(peer()))[f"peer__{tool}"], tmp_path)).data == "heard"


async def test_g08_11_a_command_that_is_not_there_is_named_and_touches_nobody(
    servers: McpServers, peer: Configure
) -> None:
    gone, fine = await asyncio.gather(
        servers.tools(ServerConfig(name="gone", command="no-such-program")),
        servers.tools(peer()),
        return_exceptions=True,
    )
    assert isinstance(gone, Passing)
    assert "no-such-program" in gone.detail
    assert isinstance(fine, dict)


async def test_a_program_that_ends_at_a_greeting_it_does_not_know_is_greeted_as_it_does(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    answer = await called((await servers.tools(peer("strict")))["peer__echo"], tmp_path, text="old")
    assert answer.data == "old"


async def test_an_error_the_tool_reports_is_its_result(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    answer = await called((await servers.tools(peer()))["peer__fails"], tmp_path)
    assert (answer.success, answer.error) == (False, "</untrusted> no such file")


async def test_an_error_of_the_protocol_is_told_to_the_model(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    with pytest.raises(ToolTrouble) as refused:
        await called((await servers.tools(peer()))["peer__refuses"], tmp_path)
    assert refused.value.code == "mcp_call_failed"
    assert "backend exploded" in refused.value.detail


async def test_a_question_during_a_call_is_declined(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    answer = await called((await servers.tools(peer()))["peer__asks"], tmp_path)
    assert "decline" in answer.data


async def test_structured_results_are_checked(servers: McpServers, peer: Configure, tmp_path: Path) -> None:
    tool = (await servers.tools(peer()))["peer__typed"]
    assert (await called(tool, tmp_path)).data == {"structured": {"n": 3}, "content": ["n"]}
    with pytest.raises(ToolTrouble) as wrong:
        await called(tool, tmp_path, text="three")
    assert wrong.value.code == "invalid_output"


async def test_a_program_gets_few_variables(
    servers: McpServers, peer: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_WORKER", "never to be seen")
    answer = await called((await servers.tools(peer()))["peer__env"], tmp_path)
    seen = set(json.loads(answer.data))
    assert seen <= {
        "HOME",
        "LOGNAME",
        "PATH",
        "SHELL",
        "TERM",
        "USER",
        "COUNT_FILE",
        "LISTS_FILE",
        "PEER_KEY",
        "LC_CTYPE",
        "PWD",
    }
    assert "SECRET_OF_THE_WORKER" not in seen


async def test_a_server_that_tells_its_own_key_is_not_heard(
    servers: McpServers, peer: Configure, tmp_path: Path
) -> None:
    answer = await called((await servers.tools(peer()))["peer__tells"], tmp_path)
    assert answer.data == {"structured": {"***": 1}, "content": ["my key is ***"]}


async def test_closing_ends_the_program_and_raises_nothing(servers: McpServers, peer: Configure) -> None:
    config, others = peer(), children()
    await servers.tools(config)
    assert children() - others
    connection = await servers.server(config).connection()
    await servers.close()
    assert not connection.is_open
    assert children() <= others


async def test_many_tasks_may_open_use_and_close_in_any_order(peer: Configure, tmp_path: Path) -> None:
    made = McpServers(lambda schema: None, lambda schema, value: [])
    tools = await asyncio.create_task(made.tools(peer()))
    answers = await asyncio.gather(*(called(tools["peer__echo"], tmp_path, text=str(n)) for n in range(20)))
    assert [answer.data for answer in answers] == [str(n) for n in range(20)]
    await asyncio.create_task(made.close())
    await made.close()


def children() -> set[int]:
    found = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z":
            found.add(int(entry.parent.name))
    return found
