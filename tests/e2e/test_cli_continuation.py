"""`run --from`: a run that starts from what another found out."""

from tests.e2e.command_line import Home
from tests.law import law

QUESTION = "How do tidal lagoons compare with offshore wind on cost and reliability?"


@law("RUN-11.a", "RUN-11.b", "RUN-11.c")
def test_a_continued_run_reads_again_only_what_changed_and_marks_what_is_new(library: Home) -> None:
    first = library.here("run", "--task", "brief", "--input", QUESTION, "--json").document

    same = library.here("run", "--from", first["run_id"], "--json").document
    assert same["input"] == QUESTION
    assert [line for line in library.trace(same["run_id"]) if line["tool"] == "web_fetch"] == []
    assert texts_of(same) == texts_of(first)
    assert new_texts_of(same) == set()
    assert same["report"]["sources"][0]["quote"] == first["report"]["sources"][0]["quote"]
    assert same["report"]["sources"][0]["found_by"]["query"]

    document = library.folder / "docs/levelised-costs-2030.md"
    document.write_text(document.read_text("utf-8").replace("168 euros", "172 euros"), "utf-8")
    changed = library.here("run", "--from", first["run_id"], "--json").document
    assert any("172 euros" in text for text in new_texts_of(changed))
    assert not any("168 euros" in text for text in texts_of(changed))
    assert not new_texts_of(changed) & texts_of(first)
    assert any("Levelised costs" in limit for limit in changed["report"]["limits"])
    settled = {line["data"]["subtask"] for line in library.trace(changed["run_id"]) if is_settled(line)}
    assert settled >= {"s2", "s3"}

    other = library.here(
        "run",
        "--from",
        first["run_id"],
        "--task",
        "brief",
        "--input",
        "How do lagoons affect fish?",
        "--json",
    ).document
    assert {one["id"]: one["state"] for one in other["subtasks"]}["known"] == "accepted"
    assert texts_of(other) & texts_of(first)
    assert new_texts_of(other)


def test_only_a_run_that_has_ended_can_be_continued(talking: Home) -> None:
    talking.write("script.yaml", "- call: [{tool: ask_human, arguments: {question: 'Which?'}}]\n")
    assert talking.here("run", "--task", "talk", "--input", "hello").code == 3
    refused = talking.here("run", "--from", talking.run_id(), "--json")
    assert refused.code == 5
    assert refused.document["error"]["code"] == "run_not_ended"


def texts_of(shown: dict) -> set[str]:
    return {claim["text"] for section in shown["report"]["sections"] for claim in section["claims"]}


def new_texts_of(shown: dict) -> set[str]:
    claims = [claim for section in shown["report"]["sections"] for claim in section["claims"]]
    return {claim["text"] for claim in claims if claim.get("is_new")}


def is_settled(line: dict) -> bool:
    return line["kind"] == "SubtaskReviewed" and "known from" in str(line["data"].get("reasons"))
