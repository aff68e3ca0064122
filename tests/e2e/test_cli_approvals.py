"""People agree or refuse, at the terminal and from elsewhere."""

import os
import pty
import select
import signal
import subprocess
import time

from tests.e2e.command_line import OUTLAST, Home, seconds_between
from tests.law import law
from tests.patience import PROMPT_SECONDS

GUARDED = "task: {name: talk, workflow: chat, tools: [send], approvals: [{tool: send}]}\n"
LETTER = """
- call: [{tool: send, arguments: {to: ann, body: 你好}}]
- when: {contains: too curt}
  say: rewritten
- say: all done
"""


def test_a_run_whose_approval_names_no_tool_does_not_start(talking: Home) -> None:
    talking.write("tasks/talk.yaml", GUARDED.replace("{tool: send}", "{tool: sned}"))
    refused = talking.here("run", "--task", "talk", "--input", "write", "--json")
    assert (refused.code, refused.document["error"]["code"]) == (2, "unknown_tool")
    assert "Did you mean send?" in refused.document["error"]["detail"]
    assert talking.here("runs", "--json").document["runs"] == []


@law("RUN-8.b", "RUN-8.i", "DOOR-3.d")
def test_a_call_waits_for_approval_which_may_change_its_arguments(talking: Home) -> None:
    talking.write("tasks/talk.yaml", GUARDED)
    talking.write("script.yaml", LETTER)
    waiting = talking.outlast("run", "--task", "talk", "--input", "write", "--key", "k")
    run = talking.run_id()
    assert waiting.code == 3
    assert "你好" in waiting.err
    assert f"outlast approve {run} --ticket a" in waiting.err
    assert talking.outlast("run", "--task", "talk", "--input", "write", "--key", "k").code == 3

    shown = talking.here("show", run).out
    for told in ("call of send", "你好", f"outlast approve {run} --ticket a"):
        assert told in shown

    unfit = talking.here("approve", run, "--edit", '{"to": 3}', "--json")
    assert (unfit.code, unfit.document["error"]["code"]) == (2, "bad_edit")
    assert talking.here("approve", run, "--edit", "{").code == 2

    worker = talking.start("worker")
    worker.until("is ready")
    approved = talking.here("approve", run, "--edit", '{"to": "ann", "body": "Dear Ann"}')
    assert approved.code == 0
    assert "resume" not in approved.err
    followed = talking.here("trace", run, "--follow", "--json").lines
    assert followed[-1]["state"] == "COMPLETED"
    assert seconds_between(followed, "Approved", "ToolRequested") < PROMPT_SECONDS
    assert (talking.folder / "sent.txt").read_text("utf-8") == "ann: Dear Ann\n"
    worker.signal(signal.SIGTERM)
    assert worker.end().code == 0
    again = talking.here("approve", run, "--json")
    assert (again.code, again.document["error"]["code"]) == (5, "no_ticket")


@law("RUN-8.j")
def test_a_rejection_reaches_the_model_with_its_comment(talking: Home) -> None:
    talking.write("tasks/talk.yaml", GUARDED)
    talking.write("script.yaml", LETTER)
    assert talking.outlast("run", "--task", "talk", "--input", "write").code == 3
    run = talking.run_id()
    rejected = talking.here("reject", run, "--comment", "too curt")
    assert rejected.code == 0
    assert f"outlast resume {run}" in rejected.err
    assert "A person has decided" in talking.here("doctor", run).out
    done = talking.outlast("resume", run)
    assert (done.code, done.out.strip()) == (0, "rewritten"), done.err
    assert not (talking.folder / "sent.txt").exists()


def test_with_several_tickets_open_one_has_to_be_named(talking: Home) -> None:
    talking.write("tasks/talk.yaml", GUARDED)
    two = "[{tool: send, arguments: {to: ann, body: a}}, {tool: send, arguments: {to: bob, body: b}}]"
    talking.write("script.yaml", f"- call: {two}\n- say: done\n")
    waiting = talking.outlast("run", "--task", "talk", "--input", "write", "--json")
    run = waiting.document["run_id"]
    unclear = talking.here("approve", run, "--json")
    assert (unclear.code, unclear.document["error"]["code"]) == (5, "which_ticket")
    tickets = [item.split()[1].rstrip(":") for item in waiting.document["waiting_for"]]
    assert len(tickets) == 2
    assert all(ticket in unclear.document["error"]["next"] for ticket in tickets)
    assert talking.here("approve", run, "--ticket", tickets[0]).code == 0
    assert talking.here("reject", run, "--ticket", tickets[1]).code == 0
    assert talking.outlast("resume", run).code == 0
    assert (talking.folder / "sent.txt").read_text("utf-8") == "ann: a\n"


def test_at_a_terminal_the_person_is_asked_in_place(talking: Home) -> None:
    talking.write("tasks/talk.yaml", GUARDED.replace("[send]", "[send, ask_human]"))
    talking.write(
        "script.yaml",
        "- call: [{tool: send, arguments: {to: ann, body: hello}}]\n"
        "- call: [{tool: ask_human, arguments: {question: 'Which colour?'}}]\n"
        "- when: {contains: blue}\n  say: all done\n",
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*OUTLAST, "run", "--task", "talk", "--input", "write"],
        cwd=talking.folder, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )  # fmt: skip
    os.close(theirs)
    try:
        assert '"body": "hello"' in read_until(ours, "Approve?")
        os.write(ours, b"y\n")
        assert "Which colour?" in read_until(ours, "Answer:")
        os.write(ours, b"blue\n")
        read_until(ours, "all done")
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert (talking.folder / "sent.txt").read_text("utf-8") == "ann: hello\n"


def read_until(terminal: int, text: str) -> str:
    """What the terminal shows, up to `text`."""
    seen, give_up_at = b"", time.monotonic() + 30
    while text.encode() not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0.0, give_up_at - time.monotonic()))
        assert ready, f"{text!r} did not come: {seen.decode('utf-8', 'replace')}"
        seen += os.read(terminal, 65536)
    return seen.decode("utf-8", "replace")
