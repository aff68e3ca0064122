"""A small research run that meets everything a crash can interrupt, and the world it acts on.

Three subtasks at once; tools that read, that may be repeated and that may not; a person who approves a transition, a payment and
the report and answers a question; a hook; a review that sends work back. The model is a function of what it is shown, so that
every run comes to the same report whatever interrupted it.
"""

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from outlast.adapters.execution.binding import bind
from outlast.adapters.execution.call import CallInLoop
from outlast.adapters.tools.ask_human import AskHuman
from outlast.adapters.tools.web_fetch import WebFetch
from outlast.adapters.tools.web_search import WebSearch
from outlast.adapters.tools.write_report import WriteReport
from outlast.domain.door import Json
from outlast.domain.hooks import HookContext
from outlast.domain.ids import source_key
from outlast.domain.message import Usage
from outlast.domain.task import ApprovalRule, Limits, TaskDefinition
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.search import Page, SearchHit
from outlast.ports.tool import BaseTool, Tool, ToolContext, ToolResult

QUESTION = "Who trades tin, and what does it cost?"
PAGES = {
    "https://tin.example/s1": "Three houses trade most of the tin. They meet on Mondays.",
    "https://tin.example/s2": "A ton of tin cost 31 pounds last year. The price is paid in advance.",
    "https://tin.example/s3": "Nobody sells tin on Sundays. The market opens at eight.",
}
HOOK = "checks:allow"


@dataclass
class World:
    """What happened outside, by idempotency key: the one thing a crash does not take back."""

    looked: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)
    paid: Counter[str] = field(default_factory=Counter)
    hooks: list[HookContext] = field(default_factory=list)
    tools: dict[str, Tool] = field(init=False)

    def __post_init__(self) -> None:
        acting = [replace(BOUND[kind], call=CallInLoop(kind(self).execute)) for kind in (Look, Note, Pay)]
        self.tools = {tool.name: tool for tool in (*BUILT_IN, *acting)}

    def allow(self, context: HookContext) -> None:
        """The hook: it sees the transition and has no objection."""
        self.hooks.append(context)


class _Acting(BaseTool):
    input_schema: ClassVar = {
        "type": "object",
        "properties": {"what": {"type": "string"}},
        "required": ["what"],
    }

    def __init__(self, world: World) -> None:
        self.world = world


class Look(_Acting):
    name = "look"
    description = "Look at something"
    effect = "read"
    cache_seconds = 0.0

    async def execute(self, what: str, context: ToolContext) -> ToolResult:
        self.world.looked[context.idempotency_key] += 1
        return ToolResult(success=True, data={"seen": what})


class Note(_Acting):
    name = "note"
    description = "Write something down under its key"
    effect = "idempotent"

    async def execute(self, what: str, context: ToolContext) -> ToolResult:
        self.world.noted[context.idempotency_key] += 1
        return ToolResult(success=True, data={"noted": what})


class Pay(_Acting):
    name = "pay"
    description = "Pay for something"
    effect = "once"

    async def execute(self, what: str, context: ToolContext) -> ToolResult:
        self.world.paid[context.idempotency_key] += 1
        return ToolResult(success=True, data={"paid": what})


BUILT_IN = [bind(kind) for kind in (WebSearch, WebFetch, AskHuman, WriteReport)]
BOUND: dict[type[_Acting], Any] = {kind: bind(kind(World)) for kind in (Look, Note, Pay)}
"""Tools bound once, since reading their source takes longer than a whole run."""


class Library:
    """The pages there are, as search and fetch."""

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        """The pages whose address ends like the query."""
        found = [url for url in PAGES if query.endswith(url.rpartition("/")[2])]
        return [SearchHit(url, f"About {url}", PAGES[url][:20], 1.0) for url in found][:limit]

    async def fetch(self, url: str) -> Page:
        """One page."""
        return Page(url, f"About {url}", PAGES[url], "text/plain", len(PAGES[url]))

    async def close(self) -> None:
        """Nothing to give up."""


def definition() -> TaskDefinition:
    """The task the run is pinned to."""
    return TaskDefinition(
        name="trade",
        workflow="research",
        limits=Limits(max_steps=60),
        recall_top_k=8,
        is_remembered=True,
        tools=("web_search", "web_fetch", "ask_human", "look", "note", "pay"),
        approvals=(
            ApprovalRule(on="PLANNING->EXECUTING"),
            ApprovalRule(tool="pay"),
            ApprovalRule(on="report"),
        ),
        hooks={"on_exit_PLANNING": HOOK, "on_enter_REVIEWING": HOOK},
    )


def answering(request: ModelRequest) -> ModelAnswer:
    """The model of every role: what it says depends on what it is shown, and on nothing else."""
    turn = sum(message.speaker == "assistant" for message in request.messages)
    if request.purpose == "plan":
        return _says(
            {"subtasks": [{"id": name, "question": f"What of {name}?"} for name in ("s1", "s2", "s3")]}
        )
    if request.purpose == "execute":
        return _works(_subtask(request), turn)
    if request.purpose == "review":
        return _judges(request)
    if request.purpose == "report":
        return _calls(_written()) if turn == 0 else _says("The report is handed in.")
    return _says({"verdict": "accept"})


def _subtask(request: ModelRequest) -> str:
    opening = request.messages[1].text
    return opening.partition("SUBTASK: ")[2][:2]


def _works(name: str, turn: int) -> ModelAnswer:
    url = f"https://tin.example/{name}"
    search = ToolCall("", "web_search", {"query": f"tin {name}"})
    fetch = ToolCall("", "web_fetch", {"url": url})
    turns: dict[str, list[tuple[ToolCall, ...]]] = {
        "s1": [(search,), (fetch, ToolCall("", "note", {"what": "houses"}))],
        "s2": [(search,), (ToolCall("", "pay", {"what": "the price list"}), fetch)],
        "s3": [
            (ToolCall("", "ask_human", {"question": "Which day?"}), ToolCall("", "look", {"what": "door"})),
            (fetch,),
        ],
    }
    if turn < len(turns[name]):
        return _calls(*turns[name][turn])
    quote = PAGES[url].partition(". ")[0] + "."
    found: Json = {
        "claim": f"{quote[:-1]} ({name}).",
        "sources": [source_key(url)],
        "quote": quote,
        "confidence": 0.8,
    }
    return _says({"conclusions": [found], "open_questions": []})


def _judges(request: ModelRequest) -> ModelAnswer:
    opening = request.messages[1].text
    if "What of s3?" in opening and "ROUND: 1" in opening:
        return _says({"verdict": "revise", "reasons": ["say it again"]})
    return _says({"verdict": "accept"})


def _written() -> ToolCall:
    sections: list[Json] = [
        {
            "heading": name,
            "claims": [{"text": f"As found by {name}.", "conclusions": [f"{name}.1"], "confidence": 0.8}],
        }
        for name in ("s1", "s2", "s3")
    ]
    return ToolCall("", "write_report", {"title": "Tin", "summary": "Of tin.", "sections": sections})


def _says(value: Json) -> ModelAnswer:
    text = value if isinstance(value, str) else json.dumps(value)
    return ModelAnswer(text, usage=Usage(100, 10))


def _calls(*calls: ToolCall) -> ModelAnswer:
    return ModelAnswer("", calls, usage=Usage(100, 10), finish="tool_calls")
