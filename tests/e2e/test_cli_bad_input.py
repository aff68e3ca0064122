"""What a stranger gets wrong, and what each mistake is answered with: a code, and a sentence that says what to do."""

import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.e2e.command_line import Ended, Home
from tests.law import law

RUN = ("run", "--task", "brief", "--input", "How large are tides?", "--json")

ENDPOINT = "{provider: openai_compatible, model: m, base_url: 'http://x/v1', api_key: '${NO_SUCH_KEY}'}"


def error_of(ended: Ended, code: int) -> dict:
    assert ended.code == code, ended.err
    error = ended.document["error"]
    assert error.keys() == {"code", "detail", "next"}
    assert error["next"]
    assert error["detail"].split("\n")[0] in ended.err
    assert "Traceback" not in ended.err
    return error


@law("DOOR-3.d", "DOOR-3.f")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rnu", "--json"), "Did you mean run?"),
        (("show", "--json"), "RUN"),
        (("run", "--tsk", "x", "--json"), "--task"),
        (("run", "--json"), "--task and --input"),
        (("config", "chek", "--json"), "chek"),
        (("runs", "--state", "SLEEPING", "--json"), "SLEEPING"),
        (("runs", "--limit", "many", "--json"), "many"),
        (("report", "r-x", "--format", "pdf", "--json"), "pdf"),
    ],
)
def test_wrong_usage_is_told_with_what_was_probably_meant(
    library: Home, words: tuple[str, ...], said: str
) -> None:
    error = error_of(library.here(*words), 2)
    assert said.lower() in (error["detail"] + error["next"]).lower()


@law("DOOR-3.d", "DOOR-3.f")
@pytest.mark.parametrize(
    "words",
    [
        ("runs",),
        ("show", "r-1"),
        ("trace", "r-1"),
        ("stats",),
        ("threads", "list"),
        ("tasks", "list"),
        ("memory", "stats"),
        ("shadow", "report"),
        ("pause", "r-1"),
        ("db", "check"),
        RUN[:-1],
    ],
)
@pytest.mark.parametrize("path", ["docs", "outlast.yaml/outlast.db"])
def test_store_that_can_never_be_where_it_is_configured_is_a_mistake_in_the_configuration(
    library: Home, words: tuple[str, ...], path: str
) -> None:
    library.write(
        "outlast.yaml",
        f"llm: {{provider: offline}}\nharness: {{persistence: {{backend: sqlite, path: {path}}}}}\n",
    )
    error = error_of(library.here(*words, "--json"), 2)
    assert error["code"] == "store_path"
    assert path in error["detail"]
    assert "harness.persistence.path" in error["next"]


def test_check_of_a_configuration_opens_what_it_and_its_tasks_name(library: Home) -> None:
    library.write(
        "outlast.yaml",
        "llm: {provider: scripted, script: none.yaml}\nsearch: {provider: corpus, path: ./docs}\n",
    )
    library.write("tasks/own.yaml", "task:\n  name: own\n  workflow: nowhere:decide\n")
    checked = library.here("config", "check", "--json")
    assert (checked.code, checked.document["problems"]) == (0, [])
    told = {(one["key"], one["line"], one["code"]) for one in checked.document["warnings"]}
    assert told == {("llm.script", 1, "invalid_script"), ("task.workflow", 3, "workflow_not_found")}
    library.write("none.yaml", "- {sya: hello}\n")
    checked = library.here("config", "check")
    assert checked.code == 2
    assert "outlast.yaml:1: llm.script: " in checked.out
    assert "warning: tasks/own.yaml:3: task.workflow: " in checked.out


def test_worker_does_not_wait_for_a_store_that_can_never_be_there(library: Home) -> None:
    library.write("outlast.yaml", "harness: {persistence: {backend: sqlite, path: docs}}\n")
    ended = library.here("worker", "--until-idle")
    assert ended.code == 2
    assert "harness.persistence.path" in ended.err


@pytest.mark.parametrize("verb", [("show",), ("resume",), ("threads", "show"), ("fork", "--at", "1")])
def test_bytes_that_are_no_text_name_nothing_there_is(library: Home, verb: tuple[str, ...]) -> None:
    assert "There is no" in error_of(library.here(*verb, os.fsdecode(b"r-\xff"), "--json"), 4)["detail"]


@pytest.mark.parametrize(
    ("config", "code", "said"),
    [
        ("lllm: {}\n", "invalid_settings", "did you mean llm"),
        ("harness: {max_concurrent_tools: many}\n", "invalid_settings", "outlast.yaml:1"),
        ("llm: [\n", "invalid_yaml", "outlast.yaml"),
        (f"llm: {ENDPOINT}\nsearch: {{provider: corpus, path: docs}}\n", "missing_variable", "NO_SUCH_KEY"),
        ("llm: {provider: offline}\nsearch: {provider: corpus, path: nowhere}\n", "corpus_missing", "nowhere"),
        ("llm: {provider: offline}\nsearch: {provider: corpus, path: void}\n", "corpus_empty", "void"),
        ("llm: {provider: offline}\nharness: {persistence: {backend: redis, url: 'redisx'}}\n", "store_url", "redis"),
        ("llm: {provider: scripted, script: none.yaml}\nsearch: {provider: corpus, path: docs}\n", "invalid_script", "none.yaml"),
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_work_stops_a_run_before_it_begins(
    library: Home, config: str, code: str, said: str
) -> None:
    (library.folder / "void").mkdir()
    library.write("outlast.yaml", config)
    error = error_of(library.here(*RUN), 2)
    assert error["code"] == code
    assert said in error["detail"]
    assert not (library.folder / ".outlast/outlast.db").exists() or library.here(
        "runs", "--json"
    ).document == {"runs": []}


def test_two_configurations_and_none_that_is_named_are_refused(library: Home) -> None:
    assert error_of(library.here(*RUN, "--config", "other.yaml"), 2)["code"] == "config_not_found"
    library.write("config.yaml", "llm: {provider: offline}\n")
    assert error_of(library.here(*RUN), 2)["code"] == "two_configs"


def test_what_is_not_there_is_not_found_and_empty_input_is_wrong(library: Home) -> None:
    assert error_of(library.here("show", "r-x", "--json"), 4)["code"] == "nothing_here"
    assert library.here("runs", "--json").document == {"runs": []}
    assert (
        error_of(library.here("run", "--task", "brif", "--input", "x", "--json"), 4)["code"]
        == "task_not_found"
    )
    assert (
        error_of(library.here("run", "--task", "brief", "--input", "  ", "--json"), 2)["code"]
        == "empty_input"
    )
    assert (
        error_of(library.here("run", "--task", "brief", "--input", "x", "--set", "a", "--json"), 2)["code"]
        == "invalid_override"
    )
    for words in (("show",), ("report",), ("trace",), ("resume",), ("pause",), ("cancel",), ("doctor",)):
        assert error_of(library.here(*words, "r-x", "--json"), 4)["code"] == "unknown_run"
    unknown = error_of(library.here("set", "r-x", "max_wall=5", "--json"), 2)
    assert (unknown["code"], "max_wall_time" in unknown["next"]) == ("unknown_limit", True)
    assert library.here("run", "--task", "brif", "--input", "x").err.count("brief") == 1


def test_an_unreadable_document_is_named_and_the_run_goes_on(library: Home) -> None:
    (library.folder / "docs/broken.pdf").write_bytes(b"%PDF-1.7\nthis is no pdf at all")
    done = library.outlast(*RUN)
    assert done.code == 0, done.err
    assert "broken.pdf" in done.err
    assert "broken.pdf" in str(library.here("doctor", "--json").document)


def test_a_database_of_a_newer_version_is_left_alone(library: Home) -> None:
    (library.folder / ".outlast").mkdir()
    with sqlite3.connect(library.folder / ".outlast/outlast.db") as database:
        database.execute("PRAGMA user_version = 999")
    database.close()
    error = error_of(library.here("runs", "--json"), 1)
    assert error["code"] == "store_newer"
    assert "999" in error["detail"]
    assert library.here("db", "check", "--json").document["version"] == 999
    assert "a newer outlast wrote it" in library.here("db", "check").err
    assert error_of(library.here(*RUN), 1)["code"] == "store_newer"
    failed = [
        check for check in library.here("doctor", "--json").document["checks"] if check["status"] == "error"
    ]
    assert [check["name"] for check in failed] == ["store"]


def test_a_store_in_memory_refuses_verbs_of_other_processes(library: Home) -> None:
    library.write("outlast.yaml", "llm: {provider: offline}\nharness: {persistence: {backend: memory}}\n")
    assert library.outlast(*RUN).code == 0
    assert error_of(library.here("show", "r-x", "--json"), 2)["code"] == "store_of_one_process"
    assert error_of(library.here(*RUN, "--detach"), 2)["code"] == "store_of_one_process"


def test_doctor_tells_once_of_each_thing_that_is_named_and_broken_or_not_there(library: Home) -> None:
    library.write(
        "outlast.yaml",
        """
llm: {provider: scripted, script: gone.yaml}
roles: {planner: {provider: scripted, script: bad.yaml}, reviewer: {provider: scripted, script: worse.yaml}}
search: {provider: corpus, path: papers}
tools: {paths: [own_tools]}
""",
    )
    library.write("bad.yaml", "- {sya: hello}\n")
    library.write("worse.yaml", "- {syo: hello}\n")
    library.write("tasks/own.py", "def broken(:\n")
    library.write(
        "tasks/own.yaml", 'task: {name: own, workflow: "own:decide", hooks: {after_tool: "guards:check"}}\n'
    )
    told = library.here("config", "check", "--json").document
    problems = [*told["problems"], *told["warnings"]]
    examined = library.here("doctor", "--json")
    failed = [check for check in examined.document["checks"] if check["status"] == "error"]
    assert examined.code == 1
    assert len(problems) == 7
    for named in ("gone.yaml", "bad.yaml", "worse.yaml", "papers", "own_tools", "own:decide", "guards:check"):
        assert len([check for check in failed if named in check["detail"]]) == 1, named
    assert len(failed) == len(problems)
    assert all(check["next"] for check in failed)


def test_doctor_finds_nothing_wrong_with_the_example(library: Home) -> None:
    examined = library.here("doctor", "--json")
    assert examined.code == 0
    checks = examined.document["checks"]
    assert {check["name"] for check in checks} == {
        "python",
        "sqlite",
        "event loop",
        "configuration",
        "store",
        "model",
        "disk",
        "search",
    }
    assert {check["status"] for check in checks} == {"ok"}


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("mount") is None, reason="only root can mount a tiny disk"
)
def test_a_full_disk_stops_a_run_which_can_be_resumed_once_there_is_room(
    library: Home, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=420k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this machine lets nobody mount a disk")
    try:
        here = ("--set", "harness.persistence.path=disk/o.db", "--set", "harness.lease_seconds=2")
        full = library.outlast(*RUN, *here, "--key", "k")
        assert error_of(full, 1)["code"] == "store_full"
        subprocess.run(["mount", "-o", "remount,size=40m", disk], check=True)
        done = library.outlast(*RUN, *here, "--key", "k")
        assert done.code == 0, done.err
        assert done.document["outcome"] == "full"
    finally:
        subprocess.run(["umount", disk], check=True)
