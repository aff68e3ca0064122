"""`config check` finds what would stop a run, and `init` writes what passes it."""

from pathlib import Path

import pytest

from outlast.domain.errors import CallerMistake
from outlast.wiring.settings.check import check
from outlast.wiring.settings.initialise import initialise
from outlast.wiring.settings.load import load
from outlast.wiring.settings.task_files import find_task
from tests.unit.wiring.settings.writing import DOCUMENTS

TOOLS = {"web_search", "web_fetch", "summarize", "write_report", "run_code", "my_tool"}


def found(folder: Path, environ: dict[str, str] | None = None) -> list[str]:
    return [str(problem) for problem in check(directory=folder, environ=environ or {}, known_tools=TOOLS)]


def test_a_good_configuration_has_no_problems(tmp_path: Path) -> None:
    assert found(tmp_path) == []
    (tmp_path / "outlast.yaml").write_text("tools: {my_tool: {timeout_seconds: 1}}")
    assert found(tmp_path) == []


def test_variables_that_are_needed_and_missing_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "outlast.yaml").write_text(
        "llm: {provider: openai_compatible, base_url: 'http://x',\n  model: m,\n  api_key: '${KEY}'}\n"
        "harness: {persistence: {backend: sqlite, url: '${NOT_USED}'}}\ngateway: {port: '${PORT}'}\n"
    )
    lines = found(tmp_path)
    assert len(lines) == 2
    assert (
        "outlast.yaml:3: llm.api_key: it needs the environment variable KEY, which is not set; set it, or"
        in lines[0]
    )
    assert "outlast.yaml:5: gateway.port: it needs the environment variable PORT" in lines[1]
    assert found(tmp_path, {"KEY": "k", "PORT": "1"}) == []


def test_keys_that_a_run_needs_are_told(tmp_path: Path) -> None:
    (tmp_path / "outlast.yaml").write_text(
        "llm: {provider: openai_compatible, model: m}\nsearch: {provider: brave}\nharness: {persistence: {backend: redis}}"
    )
    keys = [str(problem.key) for problem in check(directory=tmp_path, environ={})]
    assert keys == ["llm.base_url", "search.api_key", "harness.persistence.url"]


def test_tools_and_servers_that_are_not_there_are_told(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "outlast.yaml").write_text(
        "tools: {my_tol: {timeout_seconds: 1}}\nmcp_servers: {jobs: {url: 'http://x'}}"
    )
    (tmp_path / "tasks" / "a.yaml").write_text(
        "task:\n  name: a\n  tools: [web_serch, 'job:*', 'jobs:x', my_tool]\n"
    )
    lines = found(tmp_path)
    assert "outlast.yaml:1: tools.my_tol: there is no tool my_tol; did you mean my_tool?" in lines[0]
    assert "a.yaml:3: task.tools: there is no tool web_serch; did you mean web_search?" in "\n".join(lines)
    assert "there is no MCP server job; did you mean jobs:*?" in "\n".join(lines)
    assert len(lines) == 3


def test_an_approval_of_a_tool_that_is_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "outlast.yaml").write_text("mcp_servers: {jobs: {url: 'http://x'}}")
    (tmp_path / "tasks" / "a.yaml").write_text(
        "task:\n  name: a\n  approvals: [{tool: web_serch}, {tool: 'job:x'}, {tool: 'jobs:x'},\n"
        "    {tool: my_tool}, {on: report}]\n"
    )
    assert [line.partition("a.yaml:")[2] for line in found(tmp_path)] == [
        "3: task.approvals.0.tool: there is no tool web_serch; did you mean web_search?",
        "3: task.approvals.1.tool: there is no MCP server job; did you mean jobs:x?",
    ]


def test_every_file_is_looked_at_whatever_is_wrong_with_the_others(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "outlast.yaml").write_text("llm: {modle: x}")
    (tmp_path / "tasks" / "a.yaml").write_text("task: [")
    (tmp_path / "tasks" / "b.yaml").write_text("task: {name: same, max_stpes: 1}")
    (tmp_path / "tasks" / "c.yaml").write_text("task: {name: same}")
    lines = "\n".join(found(tmp_path))
    for told in ("llm.modle", "a.yaml", "task.max_stpes", "has a task of this name too"):
        assert told in lines


def test_a_file_that_cannot_be_read_is_a_problem_too(tmp_path: Path) -> None:
    (tmp_path / "outlast.yaml").write_text("llm: [")
    assert len(found(tmp_path)) == 1
    assert len(check(tmp_path / "nowhere.yaml", environ={})) == 1


def test_the_documents_of_the_manual_pass_with_their_variables() -> None:
    assert found(DOCUMENTS, {"LLM_API_KEY": "k", "REDIS_URL": "redis://x"}) == []


def test_init_writes_a_configuration_and_a_task_that_pass(tmp_path: Path) -> None:
    target = tmp_path / "new"
    assert initialise(target) == [
        target / "outlast.yaml",
        target / "tasks" / "research.yaml",
        target / "docs" / "README.md",
    ]
    assert found(target) == []
    settings = load(directory=target, environ={})
    assert settings.notices == ()
    assert find_task("research", settings, environ={}).file == target / "tasks" / "research.yaml"


def test_init_never_overwrites(tmp_path: Path) -> None:
    initialise(tmp_path)
    (tmp_path / "outlast.yaml").write_text("# mine")
    assert initialise(tmp_path) == []
    assert (tmp_path / "outlast.yaml").read_text() == "# mine"


def test_init_leaves_another_spelling_of_the_configuration_and_a_docs_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("# mine")
    (tmp_path / "docs").mkdir()
    assert initialise(tmp_path) == [tmp_path / "tasks" / "research.yaml"]


def test_init_where_nothing_can_be_written_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CallerMistake, match="cannot be written") as caught:
        initialise(tmp_path / "file")
    assert caught.value.code == "cannot_write"


def test_programs_of_servers_that_a_task_uses_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / "outlast.yaml").write_text(
        "mcp_servers: {used: {command: no-such-program}, idle: {command: no-such-program}, own: {command: ./own}}"
    )
    (tmp_path / "own").write_text("#!/bin/sh")
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "t.yaml").write_text("task: {name: t, tools: ['used:*', 'used:one', 'own:*']}")
    [line] = found(tmp_path)
    assert "the program of the MCP server used, no-such-program, is not there" in line
    assert "mcp_servers.used.command" in line
