"""A run at work is steered from another process; what is asked takes effect within a second, by the run's own journal."""

import signal

from tests.e2e.command_line import Home, seconds_between
from tests.law import law
from tests.patience import PROMPT_SECONDS

HOLD = "- call: [{tool: hold}]\n- say: done\n"


@law("RUN-5.a", "RUN-5.c", "RUN-5.d")
def test_a_run_is_told_limited_paused_and_resumed_from_another_process(talking: Home) -> None:
    talking.write("script.yaml", "- call: [{tool: hold}]\n- when: {contains: 'be brief'}\n  say: brief\n")
    worked = talking.start("run", "--task", "talk", "--input", "hello")
    worked.until("hold")
    run = talking.run_id()

    assert talking.here("say", run, "be brief").code == 0
    assert talking.here("set", run, "max_steps=7", "max_cost=1.5").code == 0
    paused = talking.here("pause", run)
    assert paused.code == 0
    assert "resume" not in paused.err
    talking.write("go", "")
    ended = worked.end()
    assert ended.code == 3
    assert f"outlast resume {run}" in ended.err
    trace = talking.trace(run)
    assert seconds_between(trace, "ToolAnswered", "StateEntered:PAUSED") < PROMPT_SECONDS
    assert {
        line["data"]["by"] for line in trace if line["kind"] in ("Said", "LimitsChanged", "PauseRequested")
    } == {"local"}

    resumed = talking.outlast("resume", run)
    assert (resumed.code, resumed.out.strip()) == (0, "brief"), resumed.err


@law("RUN-5.g")
def test_a_cancelled_run_ends_within_a_second_and_kills_its_calls(talking: Home) -> None:
    talking.write("script.yaml", HOLD)
    worked = talking.start("run", "--task", "talk", "--input", "hello")
    worked.until("hold")
    run = talking.run_id()
    assert talking.here("cancel", run, "--reason", "enough").code == 0
    ended = worked.end()
    assert ended.code == 1
    assert "enough" in ended.err
    assert seconds_between(talking.trace(run), "CancelRequested", "StateEntered:CANCELLED") < PROMPT_SECONDS
    assert talking.outlast("resume", run).code == 1
    again = talking.here("cancel", run, "--json")
    assert (again.code, again.document["error"]["code"]) == (5, "run_ended")


@law("RUN-5.a")
def test_a_worker_goes_on_within_a_second_of_an_answer_from_another_process(talking: Home) -> None:
    talking.write(
        "script.yaml", "- call: [{tool: ask_human, arguments: {question: 'Which colour?'}}]\n- say: thanks\n"
    )
    asked = talking.outlast("run", "--task", "talk", "--input", "hello", "--json")
    assert asked.code == 3
    assert "Which colour?" in str(asked.document["waiting_for"])
    run = asked.document["run_id"]
    assert f"outlast answer {run} TEXT" in asked.err

    unheard = talking.here("say", run, "blue is nice")
    assert unheard.code == 0
    assert f"outlast resume {run}" in unheard.err

    worker = talking.start("worker")
    worker.until("is ready")
    answered = talking.here("answer", run, "blue")
    assert answered.code == 0
    assert "resume" not in answered.err
    followed = talking.here("trace", run, "--follow", "--json").lines
    assert followed[-1]["state"] == "COMPLETED"
    assert seconds_between(followed, "Answered", "ToolAnswered") < PROMPT_SECONDS
    worker.signal(signal.SIGTERM)
    assert worker.end().code == 0


def test_a_signal_for_a_run_that_is_not_there_is_not_found(talking: Home) -> None:
    talking.write("script.yaml", "- say: hello\n")
    assert talking.outlast("run", "--task", "talk", "--input", "hello").code == 0
    refused = talking.here("pause", "r-nothing", "--json")
    assert (refused.code, refused.document["error"]["code"]) == (4, "unknown_run")
    assert refused.document["error"]["next"]
