"""Exporting, importing, archiving, pruning and checking through the command line."""

import gzip
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.command_line import ROOT, Home
from tests.law import law

LONG = "The tide turns twice a day. " * 500


@pytest.fixture
def kept(home: Home) -> Home:
    """A completed chat with a long answer, a fork of it, a failed run and one that waits for a person."""
    home.write("outlast.yaml", "llm: {provider: scripted, script: script.yaml}\n")
    home.write(
        "script.yaml",
        f"- {{when: {{contains: fail}}, fail: {{fault: auth}}, repeat: true}}\n- {{say: '{LONG}', repeat: true}}\n",
    )
    home.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: []}\n")
    home.write(
        "tasks/asked.yaml",
        'task: {name: asked, workflow: chat, tools: [], approvals: [{on: "INIT->EXECUTING"}]}\n',
    )
    assert home.here("run", "--task", "talk", "--input", "Tell of tides.").code == 0
    return home


def fork(home: Home, run_id: str) -> str:
    at = next(line["seq"] for line in home.trace(run_id) if line["kind"] == "ModelAnswered")
    assert home.here("fork", run_id, "--at", str(at)).code == 0
    return home.run_id()


def states(home: Home) -> list[str]:
    return sorted(run["state"] for run in home.here("runs", "--json").document["runs"])


def test_a_run_moves_to_another_store_and_back(kept: Home, tmp_path: Path) -> None:
    run_id = kept.run_id()
    exported = kept.here("export", run_id, "-o", "run.jsonl")
    assert (exported.code, exported.out) == (0, "")
    text = (kept.folder / "run.jsonl").read_bytes()
    assert (kept.folder / "run.jsonl").stat().st_mode & 0o077 == 0
    assert kept.here("export", run_id).out.encode() == text
    other = kept.write("other.yaml", "harness: {persistence: {path: other.db}}\n").name
    taken = kept.here("import", "run.jsonl", "--config", other)
    assert (taken.code, taken.out) == (0, run_id + "\n")
    assert kept.here("export", run_id, "--config", other).out.encode() == text
    assert kept.here("show", run_id, "--json", "--config", other).document["answer"] == LONG
    again = kept.here("import", "run.jsonl", "--config", other)
    assert (again.code, "event for event" in again.err) == (0, True)
    new = kept.here("import", "run.jsonl", "--as-new", "--json", "--config", other).document
    assert new["run_id"] != run_id
    assert kept.here("show", new["run_id"], "--json", "--config", other).document["answer"] == LONG
    assert kept.here("db", "check", "--config", other).code == 0


def test_an_unfinished_run_is_resumed_where_it_was_taken_up(kept: Home) -> None:
    assert kept.here("run", "--task", "asked", "--input", "May I?").code == 3
    run_id = kept.run_id()
    assert kept.here("export", run_id, "-o", "run.jsonl.gz").code == 0
    kept.write("script2.yaml", "- {say: 'Of course.', repeat: true}\n")
    other = kept.write(
        "other.yaml",
        "llm: {provider: scripted, script: script2.yaml}\nharness: {persistence: {path: other.db}}\n",
    ).name
    assert "outlast resume" in kept.here("import", "run.jsonl.gz", "--config", other).err
    assert kept.here("worker", "--until-idle", "--config", other).code == 0
    assert len(kept.here("trace", run_id, "--json", "--config", other).lines) == len(kept.trace(run_id))
    assert kept.here("approve", run_id, "--config", other).code == 0
    assert kept.here("resume", run_id, "--config", other).code == 0


def test_files_that_are_none_are_refused_with_the_reason(kept: Home) -> None:
    run_id = kept.run_id()
    kept.here("export", run_id, "-o", "run.jsonl.gz")
    whole = (kept.folder / "run.jsonl.gz").read_bytes()
    kept.write("run.jsonl", gzip.decompress(whole).decode().replace("tide", "tied"))
    (kept.folder / "cut.jsonl.gz").write_bytes(whole[:-40])
    for words, code in {
        ("import", "run.jsonl"): "export_damaged",
        ("import", "cut.jsonl.gz"): "file_unusable",
        ("import", "outlast.yaml"): "not_an_export",
        ("import", "nowhere.jsonl"): "file_unusable",
        ("export", run_id, "-o", "no/such/folder/run.jsonl"): "file_unusable",
        ("export", run_id, "--format", "atif"): "unknown_format",
        ("archive", "--older-than", "soon"): "bad_age",
    }.items():
        refused = kept.here(*words, "--json")
        assert (refused.code, refused.document["error"]["code"]) == (2, code)
    assert kept.here("export", "r-nobody").code == 4
    assert [path.name for path in kept.folder.glob(".*part")] == []


@law("STORE-3.c")
def test_an_archived_original_leaves_its_fork_whole(kept: Home) -> None:
    original = kept.run_id()
    forked = fork(kept, original)
    trace, shown = kept.trace(forked), kept.here("show", forked, "--json").document
    before = kept.here("export", original).out
    (kept.folder / ".outlast/outlast.db").touch()
    dry = kept.here("archive", "--older-than", "0s", "--dry-run", "--json").document["archived"]
    assert {one["run_id"] for one in dry} == {original, forked}
    with closing(sqlite3.connect(kept.folder / ".outlast/outlast.db")) as connection, connection:
        connection.execute(
            "UPDATE runs SET updated_at = updated_at - 100 * 86400 * 1000000 WHERE run_id = ?", [original]
        )
    done = kept.here("archive", "--older-than", "30d", "--to", "old", "--json").document
    assert [one["run_id"] for one in done["archived"]] == [original]
    assert kept.here("show", original).code == 4
    assert kept.trace(forked) == trace
    assert kept.here("show", forked, "--json").document == shown
    assert kept.here("db", "check").code == 0
    assert kept.here("import", f"old/{original}.jsonl.gz").code == 0
    assert kept.here("db", "check").code == 0
    assert kept.here("export", original).out.splitlines()[2:-1] == before.splitlines()[2:-1]


def test_prune_asks_and_gives_room_back(kept: Home) -> None:
    assert kept.here("run", "--task", "talk", "--input", "Please fail.").code == 1
    assert kept.here("run", "--task", "asked", "--input", "May I?").code == 3
    gone, fresh = kept.folder / ".outlast/workspaces/r-gone", kept.folder / ".outlast/workspaces/r-fresh"
    for folder in (gone, fresh):
        folder.mkdir(parents=True)
        (folder / "note.txt").write_text("kept")
    for path in (gone, gone / "note.txt"):
        os.utime(path, (1, 1))
    refused = kept.here("prune", "--older-than", "0s", "--json")
    assert (refused.code, refused.document["error"]["code"]) == (2, "not_confirmed")
    looked = kept.here("prune", "--older-than", "1d", "--dry-run", "--json").document
    assert (looked["runs"], [Path(one["path"]).name for one in looked["workspaces"]]) == ([], ["r-gone"])
    assert states(kept) == ["COMPLETED", "FAILED", "WAITING"]
    database = kept.folder / ".outlast/outlast.db"
    size = database.stat().st_size
    pruned = kept.here("prune", "--older-than", "0s", "--yes", "--json").document
    assert [one["state"] for one in pruned["runs"]] == ["COMPLETED"]
    assert database.stat().st_size == size - pruned["given_back_bytes"] < size
    assert states(kept) == ["FAILED", "WAITING"]
    assert kept.here("prune", "--older-than", "0s", "--yes", "--include-failed").code == 0
    assert states(kept) == ["WAITING"]
    assert not gone.exists()
    assert kept.here("db", "check").code == 0
    assert kept.here("db", "compact").code == 0


def test_an_old_database_is_brought_forward_and_checked(home: Home) -> None:
    home.write("outlast.yaml", "{}\n")
    (home.folder / ".outlast").mkdir()
    shutil.copy(ROOT / "tests/golden/databases/sqlite-v1.db", home.folder / ".outlast/outlast.db")
    looked = home.here("db", "check", "--json").document
    assert (looked["version"], looked["problems"], "runs" in looked) == (1, [], False)
    raised = home.here("db", "upgrade", "--json").document
    assert (raised["from"], raised["to"]) == (1, looked["newest_version"])
    assert home.here("db", "upgrade").out.endswith("nothing to do.\n")
    assert home.here("db", "check", "--json").document["runs"] == 5


def test_what_is_damaged_is_named(kept: Home) -> None:
    run_id = kept.run_id()
    damages = {
        "is not what its digest says": "UPDATE payloads SET content = X'00'",
        "is missing": "DELETE FROM payloads",
        "nothing holds the payload": "DELETE FROM payload_references",
        "its row and its journal do not fit": "UPDATE runs SET is_active = 1",
        "cannot be read": "UPDATE events SET body = '{}' WHERE position = 1 AND kind = 'RunStarted'",
        "there is no such run": "DELETE FROM runs",
        "there is no such thread": "DELETE FROM threads",
        "its journal has a gap": "DELETE FROM events WHERE position = 2",
        "is not the one recorded": (
            "UPDATE events SET body = json_set(body, '$.digest', substr(json_extract(body, '$.digest'), 1, 2) || 'x') "
            "WHERE kind = 'StateEntered' AND position > 3"
        ),
    }
    database = kept.folder / ".outlast/outlast.db"
    sound = database.read_bytes()
    for what, statement in damages.items():
        database.write_bytes(sound)
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute(statement)
        found = kept.here("db", "check", "--json")
        assert found.code == 1
        assert any(what in problem for problem in found.document["problems"]), (what, found.document)
        assert (
            json.dumps(found.document).count(run_id) > 0
            or "thread" in what
            or "payload" in str(found.document)
        )
