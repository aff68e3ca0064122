"""What one run leaves behind, the next is reminded of; and a person sees, forgets and archives it."""

import json
import time
from typing import Any

from tests.e2e.command_line import Ended, Home
from tests.law import law
from tests.patience import PATIENCE_SECONDS

QUESTION = "How do tidal lagoons compare with offshore wind on cost and reliability?"
ENTRY_KEYS = {
    "id", "kind", "text", "title", "source", "thread_id", "run_id", "position", "subtasks", "for", "known_at", "holds",
    "superseded_by", "expires_at", "archived_at",
}  # fmt: skip


def researched(library: Home) -> dict[str, object]:
    done = library.outlast("run", "--task", "brief", "--input", QUESTION, "--json")
    assert done.code == 0, done.err
    remember_the_rest(library)
    shown: dict[str, object] = done.document
    return shown


def chat(library: Home, words: str, *options: str) -> list[dict[str, Any]]:
    """What a conversation of these lines came to, a line each; it can remember and recall, and reads nothing."""
    library.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: [remember, recall]}\n")
    done = library.outlast("chat", "--task", "talk", "--json", *options, stdin=f"{words}\n")
    assert done.code == 0, done.err
    remember_the_rest(library)
    return done.lines


def remember_the_rest(library: Home) -> None:
    """A command remembers what it found as far as that takes a moment, which on a busy machine may be too short for all of it."""
    assert library.here("worker", "--until-idle").code == 0


def recalled(library: Home, run: object) -> list[dict[str, object]]:
    """The entries that were recalled from before in a run."""
    lines = [line for line in library.trace(str(run)) if line["kind"] == "MemoryRecalled"]
    return [one for line in lines for one in line["data"].get("entries", ()) if one["tier"] == "long_term"]


def entries(done: Ended) -> list[dict[str, object]]:
    assert done.code == 0, done.err
    found: list[dict[str, object]] = done.document["entries"]
    return found


@law("MEM-3.a", "SAFE-1.a")
def test_a_run_is_reminded_of_pages_an_earlier_one_read_and_cites_only_what_it_read_itself(
    library: Home,
) -> None:
    first = researched(library)
    listed = entries(library.here("memory", "list", "--limit", "1000", "--json"))
    assert listed[0].keys() == ENTRY_KEYS
    kinds = {str(one["kind"]) for one in listed}
    assert kinds == {"page", "conclusion"}
    read = {str(one["source"]) for one in listed if one["kind"] == "page"}
    assert len(read) > 3
    for path in (library.folder / "docs").iterdir():
        if "lagoon" in path.name:
            path.unlink()
    gone = {address for address in read if "lagoon" in address}
    assert gone
    second = researched(library)
    assert second["run_id"] != first["run_id"]
    assert gone & {str(one.get("source")) for one in recalled(library, second["run_id"])}
    report = second["report"]
    assert isinstance(report, dict)
    assert report["sources"]
    assert not gone & {source["url"] for source in report["sources"]}


@law("TOOL-7.g")
def test_what_a_person_stated_in_one_conversation_is_known_in_the_next_and_a_correction_outdates_it(
    library: Home,
) -> None:
    chat(library, "Our office cat is called Tin Lizzie.")
    [asked] = chat(library, "What is the office cat called?")
    assert "Our office cat is called Tin Lizzie." in asked["answer"]
    chat(library, "No, our office cat is called Copper Lizzie.")
    [now, before] = entries(library.here("memory", "search", "office cat", "--json"))
    assert (now["text"], now["holds"]) == ("No, our office cat is called Copper Lizzie.", True)
    assert (before["holds"], before["superseded_by"]) == (False, now["id"])
    [kept] = chat(library, 'remember {"text": "Lizzie eats at six.", "replaces": []}')
    called = [line for line in library.trace(kept["run_id"]) if line["kind"] == "ToolAnswered"]
    assert json.loads(called[0]["result"])["remembered"].startswith("m-")
    [told] = chat(library, 'recall {"query": "When does Lizzie eat?"}')
    assert "Lizzie eats at six." in told["answer"]


def test_memory_is_looked_at_forgotten_and_archived_by_command(library: Home) -> None:
    assert library.here("memory", "list").code == 0
    assert library.here("memory", "stats", "--json").code == 4
    chat(library, "I like tea.\nMy boat is called Tin.\nWe deploy on Thursdays.")
    tea, boat, deploy = (
        str(one["id"]) for one in reversed(entries(library.here("memory", "list", "--json")))
    )
    assert "boat is called Tin" in library.here("memory", "search", "boat").out
    assert library.here("memory", "forget", tea, "--json").document == {"forgotten": 1}
    assert library.here("memory", "archive", boat, "--json").document == {"archived": 1}
    assert [one["id"] for one in entries(library.here("memory", "list", "--json"))] == [deploy]
    assert [one["id"] for one in entries(library.here("memory", "list", "--archived", "--json"))] == [boat]
    assert entries(library.here("memory", "search", "boat", "--json")) == []
    stats = library.here("memory", "stats", "--json").document
    assert (stats["entries"], stats["kinds"], stats["archived"]) == (2, {"fact": 2}, 1)
    assert "2 entries" in library.here("memory", "stats").out
    assert library.here("memory", "forget", "--everything", "--yes", "--json").document == {"forgotten": 2}


def test_mistakes_of_the_memory_commands_are_told_with_what_to_do(library: Home) -> None:
    chat(library, "I like tea.")

    def refused(*words: str) -> tuple[int, str]:
        done = library.here("memory", *words, "--json")
        assert done.document["error"]["next"]
        return done.code, done.document["error"]["code"]

    assert refused("forget", "m-none") == (4, "unknown_memory")
    assert refused("forget", "--yes") == (2, "bad_choice")
    assert refused("forget", "--kind", "fact") == (2, "not_confirmed")
    assert refused("archive", "--kind", "rumour") == (2, "bad_choice")
    assert refused("archive", "--outdated-for", "soon") == (2, "bad_age")
    assert refused("search", " ") == (2, "empty_text")
    library.write("outlast.yaml", "llm: {provider: offline}\nmemory: {enabled: false}\n")
    assert refused("stats") == (2, "no_memory")
    assert len(entries_of_file(library)) == 1


def entries_of_file(library: Home) -> list[dict[str, object]]:
    """What is there once memory is turned on again."""
    library.write("outlast.yaml", "llm: {provider: offline}\n")
    return entries(library.here("memory", "list", "--json"))


def test_without_memory_nothing_is_asked_and_nothing_is_left(library: Home) -> None:
    chat(library, "I like tea.", "--set", "memory.enabled=false")
    kinds = {line["kind"] for line in library.trace(library.run_id())}
    assert not kinds & {"RecallRequested", "MemoryRecalled", "RecallFailed"}
    assert entries(library.here("memory", "list", "--json")) == []


def test_a_thread_that_is_deleted_takes_what_it_left_in_memory_with_it(library: Home) -> None:
    chat(library, "I like tea.")
    thread = library.here("runs", "--json").document["runs"][0]["thread_id"]
    chat(library, "My boat is called Tin.")
    assert library.here("threads", "delete", thread, "--yes", "--json").document["forgotten"] == 1
    assert [one["text"] for one in entries(library.here("memory", "list", "--json"))] == [
        "My boat is called Tin."
    ]


@law("MEM-3.c")
def test_a_worker_remembers_what_runs_of_others_left(library: Home) -> None:
    library.write("outlast.yaml", "llm: {provider: offline}\n")
    left = library.outlast(
        "run", "--task", "brief", "--input", QUESTION, "--set", "task.max_steps=8", "--detach"
    )
    assert left.code == 0, left.err
    run = left.out.strip()
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    found: list[dict[str, object]] = []
    while not found and time.monotonic() < give_up_at:
        found = entries(library.here("memory", "list", "--run", run, "--limit", "1000", "--json"))
    assert {one["run_id"] for one in found} == {run}
