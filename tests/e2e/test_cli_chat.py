"""Talking, line by line."""

from tests.e2e.command_line import Home
from tests.law import law


@law("PLAN-5.b")
def test_each_line_is_a_run_of_one_thread_and_the_model_hears_what_was_said(talking: Home) -> None:
    talking.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: []}\n")
    talking.write(
        "script.yaml",
        "- when: {contains: [你好, and you]}\n  say: I heard both.\n- when: {contains: again}\n  say: Again.\n- say: Hello.\n",
    )
    done = talking.outlast("chat", "--task", "talk", stdin="你好\n\nand you?\n")
    assert done.code == 0, done.err
    assert done.out.split("\n") == ["Hello.", "I heard both.", ""]
    thread = talking.here("runs", "--json").document["runs"][0]["thread_id"]
    assert f"outlast chat --thread {thread}" in done.err

    more = talking.outlast("chat", "--task", "talk", "--thread", thread, "--json", stdin="again\n")
    assert more.lines[0]["answer"] == "Again." or more.lines[0]["answer"] == "I heard both."
    assert more.lines[0]["thread_id"] == thread
    said = talking.here("threads", "show", thread, "--json").document["messages"]
    states = [
        line["data"]["target"] for line in talking.trace(talking.run_id()) if line["kind"] == "StateEntered"
    ]
    assert states == ["EXECUTING", "COMPLETED"]
    assert [message["speaker"] for message in said] == ["user", "assistant"] * 3
    assert talking.here("threads", "list", "--json").document["threads"][0]["thread_id"] == thread
    assert talking.here("threads", "show", "t-none", "--json").code == 4


def test_conversation_that_begins_a_thread_of_a_given_name_says_so_with_the_one_that_may_have_been_meant(
    talking: Home,
) -> None:
    talking.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: []}\n")
    talking.write("script.yaml", "- {say: Hello., repeat: true}\n")
    begun = talking.outlast("chat", "--task", "talk", "--thread", "kitchen", stdin="hi\n")
    again = talking.outlast("chat", "--task", "talk", "--thread", "kitchen", stdin="hi\n")
    mistyped = talking.outlast("chat", "--task", "talk", "--thread", "kitchne", stdin="hi\n")
    assert "There is no thread kitchen: this begins it.\n" in begun.err
    assert "There is no thread" not in again.err
    assert "There is no thread kitchne: this begins it. Did you mean kitchen?\n" in mistyped.err
    assert {(done.code, done.out) for done in (begun, again, mistyped)} == {(0, "Hello.\n")}


def test_run_that_begins_a_thread_of_a_given_name_says_so(talking: Home) -> None:
    talking.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: []}\n")
    talking.write("script.yaml", "- {say: Hello., repeat: true}\n")
    begun = talking.outlast("run", "--task", "talk", "--input", "hi", "--thread", "cellar")
    again = talking.outlast("run", "--task", "talk", "--input", "hi", "--thread", "cellar")
    assert "Began the thread cellar" in begun.err
    assert "Began" not in again.err
    threads = talking.here("threads", "list", "--json").document["threads"]
    assert {one["thread_id"] for one in threads} == {"cellar"}


def test_a_document_that_cannot_be_read_is_named_once_in_a_conversation(library: Home) -> None:
    library.write("docs/broken.pdf", "%PDF-1.7 but not really")
    done = library.outlast("chat", stdin="tides?\nlagoons?\n")
    assert done.code == 0, done.err
    assert done.err.count("broken.pdf: ") == 1


def test_runs_of_a_thread_wait_their_turn_speak_with_each_other_and_go_with_it(talking: Home) -> None:
    talking.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: [ask_human]}\n")
    talking.write(
        "script.yaml",
        "- when: {contains: blue}\n  say: Blue it is.\n"
        "- call: [{tool: ask_human, arguments: {question: How long?}}]\n",
    )
    asked = talking.outlast("run", "--task", "talk", "--input", "wait", "--thread", "t-1", "--json")
    first = asked.document["run_id"]
    assert (asked.code, asked.document["state"]) == (3, "WAITING")
    refused = talking.outlast("run", "--task", "talk", "--input", "me too", "--thread", "t-1")
    assert refused.code == 5
    assert f"has {first}, which has not ended" in refused.err

    queued = talking.start(
        "run", "--task", "talk", "--input", "go on", "--thread", "t-1", "--when-busy", "enqueue"
    )
    second = queued.until("waits its turn").split()[0]
    shown = talking.here("threads", "show", "t-1", "--json").document
    assert shown["unfinished"] == [first, second]
    assert "waits its turn" in talking.here("doctor", second).out
    assert talking.here("say", second, "The key is blue.", "--from-run", first).code == 0
    assert talking.here("cancel", first).code == 0
    assert talking.outlast("resume", first).code == 1
    ended = queued.end()
    assert (ended.code, ended.out.strip()) == (0, "Blue it is.")

    assert talking.here("threads", "delete", "t-1").code == 2
    gone = talking.here("threads", "delete", "t-1", "--yes", "--json")
    assert (gone.document["thread_id"], gone.document["runs"]) == ("t-1", 2)
    assert talking.here("threads", "show", "t-1").code == 4
    assert talking.here("show", second).code == 4
