"""Tools, workflows and hooks of the user's own, found beside the task."""

import re

from tests.e2e.command_line import ROOT, Home
from tests.law import law

SUMMARIZE = """
from outlast.tools import BaseTool, ToolResult

class SummarizeTool(BaseTool):
    name = "summarize"
    description = "Reduce a long text to its points"
    input_schema = {"type": "object",
                    "properties": {"text": {"type": "string"}, "max_points": {"type": "integer", "default": 5}},
                    "required": ["text"]}

    async def execute(self, text: str, max_points: int = 5) -> ToolResult:
        return ToolResult(success=True, data={"points": text.split()[:max_points], "by": "mine"})
"""
WORKFLOW = """
from outlast.domain.commands import CallModel
from outlast.domain.states import State
from outlast.runs.moves import enter, open_branch


def decide(state, now):
    if state.state is State.INIT:
        return [enter(state, State.EXECUTING, "begin")]
    branch = state.branches.get("main")
    if branch is None:
        return [open_branch("main", "executor", system="Echo.", opening=state.input)]
    if branch.answer is None:
        return [CallModel("main", "chat")] if branch.model_call is None else []
    return [enter(state, State.COMPLETED, "echoed", "full")]
"""
HOOKS = """
from pathlib import Path

from outlast.domain.hooks import Veto

SEEN = Path(__file__).parent / "seen.txt"


def note(ctx):
    with SEEN.open("a") as seen:
        seen.write(f"{ctx.point} {ctx.info.get('source')} {ctx.info.get('target')}\\n")


def no_letters(ctx):
    return Veto("no letters today") if ctx.info["tool"] == "send" else None
"""


@law("TOOL-1.f", "RUN-4.b")
def test_a_tool_of_the_users_replaces_a_built_in_one_and_gets_its_defaults(talking: Home) -> None:
    talking.write("tools/summarize_tool.py", SUMMARIZE)
    talking.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: [summarize]}\n")
    talking.write(
        "script.yaml", "- call: [{tool: summarize, arguments: {text: a b c d e f g}}]\n- say: done\n"
    )
    listed = {tool["name"]: tool for tool in talking.here("tools", "list", "--json").document["tools"]}
    assert listed["summarize"]["origin"] == "folder"
    assert listed["summarize"]["replaces"]
    assert re.search(r"summarize +- \(once\) +folder, replaces a built-in", talking.here("tools", "list").out)
    checked = talking.here("tools", "check", "--json")
    assert checked.code == 0
    assert [warning.split()[0] for warning in checked.document["warnings"]] == ["summarize"]

    assert talking.outlast("run", "--task", "talk", "--input", "hello").code == 0
    answered = next(line for line in talking.trace(talking.run_id()) if line["kind"] == "ToolAnswered")
    assert '"by": "mine"' in answered["result"] or '"by":"mine"' in answered["result"]
    assert re.search(r'"e"\s*\]', answered["result"])


@law("PLAN-5.a", "PLAN-5.d")
def test_a_workflow_of_the_users_drives_the_run(talking: Home) -> None:
    talking.write("tasks/own/flows.py", WORKFLOW)
    talking.write("tasks/own/echo.yaml", "task: {name: echo, workflow: 'flows:decide', tools: []}\n")
    talking.write("script.yaml", "- when: {contains: 你好}\n  say: echoed\n")
    done = talking.outlast("run", "--task", "tasks/own/echo.yaml", "--input", "你好")
    assert (done.code, done.out.strip()) == (0, "echoed"), done.err
    talking.write("tasks/own/echo.yaml", "task: {name: echo, workflow: 'flows:decid', tools: []}\n")
    wrong = talking.here("run", "--task", "tasks/own/echo.yaml", "--input", "x", "--json")
    assert (wrong.code, wrong.document["error"]["code"]) == (2, "workflow_not_found")


@law("PLAN-5.a")
def test_a_workflow_of_the_users_that_asks_for_what_it_may_not_fails_its_run(talking: Home) -> None:
    talking.write(
        "tasks/own/flows.py",
        "from outlast.domain.commands import Record\n"
        "from outlast.domain.events import CancelRequested\n\n\n"
        "def decide(state, now):\n"
        "    return [Record(CancelRequested('me'))]\n",
    )
    talking.write("script.yaml", "- say: never\n")
    talking.write("tasks/own/cut.yaml", "task: {name: cut, workflow: 'flows:decide', tools: []}\n")
    done = talking.here("run", "--task", "tasks/own/cut.yaml", "--input", "x", "--json")
    assert done.document["error"]["code"] == "workflow_failed", done.document
    assert "recorded a CancelRequested" in done.out


def test_hooks_beside_the_task_run_once_a_transition_and_may_refuse_a_call(talking: Home) -> None:
    talking.write("tasks/hooks.py", HOOKS)
    talking.write(
        "tasks/talk.yaml",
        "task:\n  name: talk\n  workflow: chat\n  tools: [send]\n"
        "  hooks: {on_transition: 'hooks:note', before_tool: 'hooks:no_letters'}\n",
    )
    talking.write(
        "script.yaml",
        "- call: [{tool: send, arguments: {to: ann, body: x}}]\n- when: {contains: no letters today}\n  say: understood\n",
    )
    done = talking.outlast("run", "--task", "talk", "--input", "hello")
    assert (done.code, done.out.strip()) == (0, "understood"), done.err
    assert not (talking.folder / "sent.txt").exists()
    seen = (talking.folder / "tasks/seen.txt").read_text("utf-8").splitlines()
    assert seen == ["on_transition INIT EXECUTING", "on_transition EXECUTING COMPLETED"]


def test_both_documents_of_the_interface_work_as_they_are(home: Home) -> None:
    """The configuration with a store and a model that are here; everything else is read as it stands."""
    documents = (ROOT / "tests/e2e/documents").iterdir()
    for document in documents:
        home.write(
            ("tasks/" if document.stem == "market_research" else "") + document.name,
            document.read_text("utf-8"),
        )
    home.write("tasks/my_hooks.py", "def check(ctx):\n    return None\n")
    home.write("my_tools/__init__.py", "")
    home.write(
        "docs/market.md",
        "# Lagoons\n\nThe market for tidal lagoons is small: it grows by 4 percent a year.\n",
    )
    home.environ |= {"LLM_API_KEY": "sk-not-a-key", "REDIS_URL": "redis://127.0.0.1:1/0"}
    here = ("--set", "harness.persistence={backend: sqlite}", "--set", "llm={provider: offline}")
    checked = home.here("config", "check")
    assert checked.code == 0, checked.out

    words = (
        "run",
        "--task",
        "market_research",
        "--input",
        "How large is the market for tidal lagoons?",
        "--key",
        "k",
    )
    waiting = home.outlast(*words, *here, "--json")
    assert waiting.code == 3, waiting.err
    assert "PLANNING->EXECUTING" in str(waiting.document["waiting_for"])
    home.write("sqlite.yaml", "llm: {provider: offline}\nmcp_servers: {}\n")
    elsewhere = ("--config", "sqlite.yaml")
    run = waiting.document["run_id"]
    assert home.here("approve", run, *elsewhere).code == 0
    waiting = home.outlast(*words, *here, "--json")
    assert (waiting.code, "report" in str(waiting.document["waiting_for"])) == (3, True), waiting.err
    assert home.here("approve", run, *elsewhere).code == 0
    done = home.outlast(*words, *here)
    assert done.code == 0, done.err
    assert "4 percent" in done.out
    assert "sk-not-a-key" not in done.out + done.err + str(waiting.document)
