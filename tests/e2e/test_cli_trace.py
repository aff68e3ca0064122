"""What `outlast trace` tells: everything that happened, of a run or of all runs of a task, whatever is logged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.command_line import Home
from tests.law import law

SENDING = """
- {when: {turn: 0}, call: {tool: send, arguments: {to: Ann, body: "Low water at 6"}}, repeat: true}
- {say: "Sent.", repeat: true}
"""


def of_kind(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["kind"] == kind]


@law("SEE-1.d")
def test_a_trace_has_all_that_happened_with_what_it_took(library: Home) -> None:
    words = ("run", "--task", "brief", "--input", "How do tidal lagoons compare?")

    for _ in range(2):
        assert library.here(*words).code == 0
    lines = library.trace(library.run_id())
    assert all(line["at"] and line["state"] for line in lines)
    transitions = [
        (line["data"]["source"], line["data"]["target"]) for line in of_kind(lines, "StateEntered")
    ]
    assert transitions[0] == ("INIT", "PLANNING")
    assert transitions[-1] == ("REVIEWING", "COMPLETED")
    for line in of_kind(lines, "ModelAnswered"):
        assert line["tokens"] > 0
        assert line["cost_usd"] is not None
        assert line["duration_ms"] >= 0
        assert line["role"] in ("planner", "executor", "reviewer", "writer")
    assert {line["data"]["model"] for line in of_kind(lines, "ModelRequested")} == {"offline"}
    for line in of_kind(lines, "ToolAnswered"):
        assert line["tool"]
        assert line["arguments"]
        assert line["result"]
        assert line["duration_ms"] >= 0
    assert any(line["result"] for line in of_kind(lines, "MemoryRecalled")), "what the first run found"
    assert library.here("run", "--task", "brief", "--input", "What do whales sing about?").code == 0
    told = of_kind(library.trace(library.run_id()), "Told")
    assert told
    assert all(line["role"] and line["data"]["body"] and line["data"]["kind"] for line in told)


@law("SEE-1.e")
def test_traces_are_read_by_run_and_by_task(talking: Home) -> None:
    talking.write("script.yaml", '- {say: "Hello.", repeat: true}\n')
    talking.write("tasks/other.yaml", "task: {name: other, workflow: chat, tools: []}\n")
    runs = []
    for task in ("talk", "other", "talk"):
        assert talking.here("run", "--task", task, "--input", f"Hello {len(runs)}").code == 0
        runs.append(talking.run_id())
    none = talking.here("trace", "--task", "nothing")
    assert (none.code, none.out, none.err) == (0, "", "No run of the task nothing began in this time.\n")
    lines = talking.here("trace", "--task", "talk", "--json").lines
    assert lines == [{"run_id": run, **line} for run in (runs[0], runs[2]) for line in talking.trace(run)], (
        "each whole, the older one first"
    )
    assert talking.here("trace", "--task", "talk", "--limit", "1", "--json").lines[0]["run_id"] == runs[2]
    assert talking.here("trace", "--task", "none", "--json").lines == []
    shown = talking.here("trace", "--task", "talk").out
    assert f"{runs[0]} COMPLETED: Hello 0" in shown
    assert runs[1] not in shown


@pytest.mark.parametrize("words", [(), ("r-1", "--task", "talk"), ("--task", "talk", "--follow")])
def test_a_trace_of_nothing_or_of_too_much_is_refused(talking: Home, words: tuple[str, ...]) -> None:
    refused = talking.here("trace", *words)
    assert refused.code == 2
    assert "next:" in refused.err


@law("SEE-5.b")
@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR"])
def test_what_tools_were_given_and_gave_is_in_the_journal_whatever_is_logged(
    talking: Home, level: str
) -> None:
    talking.write("script.yaml", SENDING)
    ended = talking.outlast("run", "--task", "talk", "--input", "Write", "--set", f"logging.level={level}")
    assert ended.code == 0, ended.err
    (line,) = of_kind(talking.trace(talking.run_id()), "ToolAnswered")
    assert line["arguments"] == {"to": "Ann", "body": "Low water at 6"}
    assert line["result"] == "sent to Ann"
