"""The real command, killed with SIGKILL at moments spread over its life, begun again, and ended as if nothing had been.

The moments are drawn from a seed. A run is killed at most a few times in a row, since one whose workers die again and again
without a result asks a person to look.
"""

import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from outlast.runs.calls import DID_HAPPEN, RUN_AGAIN
from tests.crash.lives import without_moments
from tests.e2e.command_line import ROOT, Ended, Going, Home
from tests.law import law

KILLS = 15
MOST_KILLS_A_RUN = 3
MOST_COMMANDS_A_RUN = 40
QUESTION = "How do batteries and flywheels compare for storing energy?"
LETTERS = 5

LETTER_TOOL = '''
import asyncio
from pathlib import Path

from outlast.tools import tool


@tool(effect="once", timeout_seconds=60)
async def send(body: str) -> str:
    """Send a letter."""
    await asyncio.sleep(0.03)
    with (Path(__file__).resolve().parent.parent / "sent.txt").open("a") as sent:
        sent.write(body + "\\n")
    await asyncio.sleep(0.03)
    return f"sent {body}"
'''

Make = Callable[[], Home]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Make]:
    """Makes directories for the command, one a call."""
    homes: list[Home] = []

    def make() -> Home:
        folder = tmp_path / f"home-{len(homes)}"
        folder.mkdir()
        homes.append(Home(folder))
        return homes[-1]

    yield make
    for home in homes:
        home.close()


@law("RUN-2.c", "RUN-3.a", "RUN-3.b", "RUN-3.d")
@pytest.mark.timeout(1200)
def test_a_killed_research_run_comes_to_the_report_of_one_that_was_not(made: Make) -> None:
    research_is_killed(made, KILLS, random.Random(1))


@law("RUN-3.c", "RUN-4.f", "RUN-4.g")
@pytest.mark.timeout(1200)
def test_a_killed_conversation_sends_no_letter_twice_and_none_is_lost(made: Make) -> None:
    letters_are_killed(made, KILLS, random.Random(2))


@pytest.mark.torture
def test_killed_runs_come_to_their_end_a_hundred_times_over(made: Make) -> None:
    research_is_killed(made, 100, random.Random(3))
    letters_are_killed(made, 100, random.Random(4))


def research_is_killed(made: Make, kills: int, dice: random.Random) -> None:
    words = ("run", "--task", "study", "--input", QUESTION, "--key", "k", "--json")
    whole = without_moments(ended(study(made()), words).document["report"])
    while kills > 0:
        home = study(made())
        kills -= killed_often(home, words, dice)
        done = ended(home, words)
        assert done.document["state"] == "COMPLETED"
        assert without_moments(done.document["report"]) == whole
        journal_is_whole(home.trace(done.document["run_id"]))


def letters_are_killed(made: Make, kills: int, dice: random.Random) -> None:
    words = ("run", "--task", "post", "--input", "Send them.", "--key", "k", "--json")
    while kills > 0:
        home = post(made())
        kills -= killed_often(home, words, dice)
        done = ended(home, words)
        assert done.document["state"] == "COMPLETED"
        assert done.document["answer"] == "All sent."
        assert sent(home) == [f"letter {number}" for number in range(LETTERS)]
        journal_is_whole(home.trace(done.document["run_id"]))


def study(home: Home) -> Home:
    shutil.copytree(ROOT / "tests/e2e/corpus_small", home.folder / "docs")
    home.write("outlast.yaml", "llm: {provider: offline}\nsearch: {provider: corpus, path: ./docs}\n")
    home.write(
        "tasks/study.yaml",
        "task: {name: study, workflow: research, tools: [web_search, web_fetch], max_steps: 90}\n",
    )
    return home


def post(home: Home) -> Home:
    home.write("outlast.yaml", "llm: {provider: scripted, script: script.yaml}\ntools: {paths: [tools]}\n")
    home.write("tasks/post.yaml", "task: {name: post, workflow: chat, tools: [send]}\n")
    home.write("tools/letters.py", LETTER_TOOL)
    calls = [f"- call: [{{tool: send, arguments: {{body: letter {number}}}}}]" for number in range(LETTERS)]
    home.write("script.yaml", "\n".join([*calls, "- say: All sent."]))
    return home


def killed_often(home: Home, words: tuple[str, ...], dice: random.Random) -> int:
    """Begin the command and kill it, a few times; how often it was killed before it had ended."""
    killed = 0
    for _ in range(dice.randint(1, MOST_KILLS_A_RUN)):
        going = home.start(*words)
        if dice.random() < 0.8:
            going.until("")
        if not has_ended_within(going, dice.uniform(0.0, 0.6)):
            killed += 1
        going.kill()
        settle_questions(home)
    return killed


def has_ended_within(going: Going, seconds: float) -> bool:
    try:
        going.process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def ended(home: Home, words: tuple[str, ...]) -> Ended:
    """The command, given again and again until the run has ended; its questions are answered."""
    for _ in range(MOST_COMMANDS_A_RUN):
        done = home.here(*words)
        if done.code == 0:
            return done
        assert done.code == 3, f"exit {done.code}: {done.err}"
        assert settle_questions(home), f"it waits, but asks nothing: {done.err}"
    raise AssertionError(f"no end after {MOST_COMMANDS_A_RUN} commands")


def settle_questions(home: Home) -> bool:
    """Answer as a person who looks whether the letter of an interrupted call was sent."""
    runs = home.here("runs", "--json").document["runs"]
    waiting = [text for run in runs for text in run["waiting_for"]]
    for run in runs:
        for text in run["waiting_for"]:
            answer = "go on" if "crash-loop" in text else told(home, run["run_id"])
            assert home.here("answer", run["run_id"], answer).code == 0
    return bool(waiting)


def told(home: Home, run_id: str) -> str:
    """What became of the newest letter the run asked for."""
    asked = [line for line in home.trace(run_id) if line["kind"] == "ToolRequested"]
    return DID_HAPPEN if len(sent(home)) == len({line["data"]["call"] for line in asked}) else RUN_AGAIN


def sent(home: Home) -> list[str]:
    path = home.folder / "sent.txt"
    return path.read_text("utf-8").splitlines() if path.exists() else []


def journal_is_whole(trace: list[dict[str, Any]]) -> None:
    assert [line["seq"] for line in trace] == list(range(1, len(trace) + 1))
    assert not [line for line in trace if line["kind"] == "FoldDiverged"]
    assert [line["kind"] for line in trace].count("RunStarted") == 1
