"""A run from its start to its report, through the command line."""

import json
import re

from tests.e2e.command_line import Home
from tests.law import law

QUESTION = "How do tidal lagoons compare with offshore wind on cost and reliability?"
CHINESE = "潮汐潟湖与海上风电在成本和可靠性方面相比如何？"
SHOW_KEYS = {
    "run_id", "thread_id", "task", "state", "outcome", "input", "plan", "subtasks", "steps", "tokens", "cost_usd",
    "started_at", "ended_at", "waiting_for", "error", "report",
}  # fmt: skip
TRACE_KEYS = {
    "seq", "at", "kind", "state", "step", "subtask", "role", "tool", "arguments", "result", "error", "tokens", "cost_usd",
    "duration_ms", "data",
}  # fmt: skip
REPORT_KEYS = {"title", "question", "summary", "sections", "sources", "limits", "outcome"}


@law("DOOR-3.b", "DOOR-3.c")
def test_a_run_prints_its_report_and_is_found_by_its_key_and_by_every_verb_that_looks(library: Home) -> None:
    done = library.outlast("run", "--task", "brief", "--input", QUESTION, "--key", "first")
    assert done.code == 0, done.err
    assert done.out.startswith("# ")
    assert "PLANNING -> EXECUTING" in done.err
    assert "s1 accepted" in done.err
    assert "\x1b" not in done.err

    again = library.outlast("run", "--task", "brief", "--input", QUESTION, "--key", "first")
    assert (again.code, again.out) == (0, done.out)
    assert "started before" in again.err

    listed = library.here("runs", "--json").document["runs"]
    assert len(listed) == 1
    assert listed[0].keys() == SHOW_KEYS - {"plan", "report"}
    run = listed[0]["run_id"]
    assert done.err.splitlines()[0] == f"Run {run}"

    shown = library.here("show", run, "--json").document
    assert shown.keys() >= SHOW_KEYS
    assert all(shown[key] == value for key, value in listed[0].items())
    assert (shown["state"], shown["outcome"], shown["input"]) == ("COMPLETED", "full", QUESTION)
    assert isinstance(shown["tokens"], int)
    assert library.here("resume", run, "--json").document == shown
    resumed = library.outlast("resume", run)
    assert (resumed.code, resumed.out) == (0, done.out)

    report = library.here("report", run, "--format", "json").document
    assert report == shown["report"]
    assert report.keys() == REPORT_KEYS
    claim, source = report["sections"][0]["claims"][0], report["sources"][0]
    assert claim.keys() == {"text", "sources", "steps", "confidence"}
    assert source.keys() == {"id", "title", "url", "quote", "fetched_at", "step", "found_by"}
    assert source["found_by"].keys() == {"step", "query"}
    assert library.here("report", run).out == done.out
    assert library.here("report", run, "--format", "html").out.startswith("<!doctype html>")

    trace = library.trace(run)
    assert [line["seq"] for line in trace] == list(range(1, len(trace) + 1))
    assert all(line.keys() == TRACE_KEYS for line in trace)
    for columns in (80, 160):
        lines = library.here("trace", run, environ={"COLUMNS": str(columns)}).out.splitlines()
        assert len(lines) == len(trace)
        assert max(map(len, lines)) <= columns
        assert sum(len(line) > columns // 2 for line in lines) > len(lines) // 2


@law("PLAN-4.d")
def test_a_chinese_question_gets_a_chinese_report(library: Home) -> None:
    done = library.outlast(
        "run",
        "--task",
        "brief",
        "--input",
        "-",
        "--json",
        stdin="潮汐潟湖与海上风电在成本和可靠性方面相比如何？\n",
    )
    assert done.code == 0, done.err
    report = done.document["report"]
    assert re.search(r"[\u4e00-\u9fff]", report["title"])
    assert all(re.search(r"[\u4e00-\u9fff]", section["heading"]) for section in report["sections"])
    assert any(re.search(r"[\u4e00-\u9fff]", source["url"]) for source in report["sources"])


@law("RUN-6.k", "RUN-6.l")
def test_a_run_at_its_limit_is_partial_and_says_what_to_type(library: Home) -> None:
    done = library.outlast(
        "run", "--task", "brief", "--input", QUESTION, "--set", "task.max_steps=6", "--json"
    )
    assert done.code == 0, done.err
    shown = done.document
    assert (shown["state"], shown["outcome"], shown["steps"]) == ("COMPLETED", "partial", 6)
    assert any("max_steps" in limit for limit in shown["report"]["limits"])
    more = library.here("run", "--from", shown["run_id"], "--set", "task.max_steps=40", "--json")
    assert more.code == 0, more.err
    assert (more.document["input"], more.document["outcome"]) == (QUESTION, "full")


def test_a_detached_run_is_worked_on_by_a_process_that_ends_when_idle(library: Home) -> None:
    done = library.outlast("run", "--task", "brief", "--input", QUESTION, "--detach")
    assert done.code == 0, done.err
    run = done.out.strip()
    followed = library.here("trace", run, "--follow", "--json")
    assert followed.lines[-1]["state"] == "COMPLETED"
    assert library.here("show", run, "--json").document["outcome"] == "full"


def test_init_writes_what_a_first_run_needs(home: Home) -> None:
    assert home.here("init").out.split() == ["outlast.yaml", "tasks/research.yaml", "docs/README.md"]
    home.write(
        "docs/tides.md",
        "# Tides\n\nThe moon raises two tides a day, because it pulls on the near side most.\n",
    )
    assert home.here("init").out == ""
    assert home.here("config", "check").code == 0
    done = home.here("run", "--task", "research", "--input", "What raises tides?", "--json")
    assert done.code == 0, done.err
    assert "moon" in json.dumps(done.document["report"])


@law("RUN-9.a", "RUN-9.h")
def test_a_fork_has_other_settings_and_leaves_the_original_alone(library: Home) -> None:
    first = library.here("run", "--task", "brief", "--input", QUESTION, "--json").document
    before = library.trace(first["run_id"])
    at = next(line["seq"] for line in before if line["kind"] == "PlanMade")
    forked = library.here("fork", first["run_id"], "--at", str(at), "--set", "task.max_steps=9", "--json")
    assert forked.code == 0, forked.err
    shown = forked.document
    assert shown["run_id"] != first["run_id"]
    assert shown["thread_id"] != first["thread_id"]
    assert (shown["outcome"], shown["steps"]) == ("partial", 9)
    assert library.trace(first["run_id"]) == before
