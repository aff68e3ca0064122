"""Models from the command line: recorded, replayed, tried."""

import json
from typing import Any

from tests.e2e.command_line import Home
from tests.law import law

QUESTION = "How do tidal lagoons compare with offshore wind on cost and reliability?"
ASKED = ("run", "--task", "brief", "--input", QUESTION, "--json")


def _settled(report: dict[str, Any]) -> dict[str, Any]:
    """A report without times and step numbers."""
    for source in report["sources"]:
        del source["fetched_at"], source["step"], source["found_by"]["step"]
    for section in report["sections"]:
        for claim in section["claims"]:
            del claim["steps"]
    return report


@law("MODEL-3.b")
def test_a_recorded_run_is_played_again_with_the_same_report(library: Home) -> None:
    whole = library.here(*ASKED, "--set", "memory.enabled=false", "--record", "calls.jsonl").document
    replay = (
        "--set",
        "llm.provider=replay",
        "--set",
        "llm.script=calls.jsonl",
        "--set",
        "memory.enabled=false",
    )
    again = library.here(*ASKED, *replay)
    assert again.code == 0, again.err
    assert _settled(again.document["report"]) == _settled(whole["report"])
    assert again.document["steps"] == whole["steps"]


def test_a_replay_of_another_question_says_what_to_do(library: Home) -> None:
    library.here(*ASKED, "--record", "calls.jsonl")
    other = ("run", "--task", "brief", "--input", "How high are lighthouses?")
    ended = library.here(*other, "--set", "llm.provider=replay", "--set", "llm.script=calls.jsonl")
    assert ended.code == 1
    assert "outlast run --record FILE" in ended.err


def test_a_recording_that_cannot_be_made_stops_before_a_run_is_started(library: Home) -> None:
    library.write("letters.txt", "Dear Ann")
    ended = library.here(*ASKED, "--record", "letters.txt")
    assert (ended.code, "is no recording" in ended.err) == (2, True)
    assert library.here("runs", "--json").document["runs"] == []
    assert library.here(*ASKED, "--detach", "--record", "calls.jsonl").code == 2


def test_doctor_tries_every_model_when_asked_to(talking: Home) -> None:
    talking.write(
        "outlast.yaml", "llm: {provider: scripted, script: script.yaml, fallbacks: [{provider: offline}]}\n"
    )
    talking.write(
        "script.yaml",
        """
- {when: {contains: take_note}, call: {tool: take_note, arguments: {word: harbour}}}
- {when: {contains: JSON object}, say: {word: harbour, length: 7}}
- {say: It is wide.}
""",
    )
    checks = talking.here("doctor", "--llm", "--json").document["checks"]
    said = [
        check["detail"]
        for check in checks
        if check["name"] == "model" and check["detail"].startswith("scripted")
    ]
    assert [detail.split(": ")[1] for detail in said] == ["answer", "tools", "JSON Schema"]
    assert any(check["detail"].startswith("offline") for check in checks)
    plain = json.dumps(talking.here("doctor", "--json").document)
    assert "--llm" in plain
