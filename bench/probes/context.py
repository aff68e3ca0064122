"""What a long run sends to its model: whether what must stay is there, and how much of each request was sent before.

`chat` is one conversation of many steps in which a person says and pins facts; `research` works on some subtasks side by side.
The model answers in no time, asks for a tool in every step, and writes notes of its earlier steps when it is asked to.
"""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.work import arguments, emit
from outlast.adapters.providers.openai_compatible.dialect import Dialect
from outlast.adapters.providers.openai_compatible.request import wire_body
from outlast.adapters.providers.tokens import estimate_request_tokens
from outlast.domain.door import Json
from outlast.domain.events import ContextFolded, ContextSummarised, ModelRequested, Recorded
from outlast.domain.ids import LOCAL_USER
from outlast.domain.message import Message, Usage
from outlast.domain.tool_call import ToolCall
from outlast.journal.history import read_history
from outlast.ports.provider import ModelAnswer, ModelRequest, Observer, ToolSchema
from outlast.runs.context import Conversations
from outlast.service import signals
from outlast.tools import BaseTool, ToolResult
from outlast.wiring.engine import Engine, Request

RESULT_WORDS = 220
FACTS = 100
SUBTASKS = 3
STEPS_OF_A_SUBTASK = 40
CONFIG = "harness: {persistence: {backend: sqlite, path: bench.db}}\n"
TASK = """\
task:
  name: talk
  description: Read page after page and keep in mind what you are told
  workflow: WORKFLOW
  tools: [look]
  max_steps: 2000
  max_tokens_total: 1000000000
"""


class Look(BaseTool):
    """Pages of some length, each another."""

    name = "look"
    description = "Read the page of a subject"
    input_schema = {  # noqa: RUF012 - a tool is written as users write one
        "type": "object",
        "properties": {"subject": {"type": "string"}, "number": {"type": "integer"}},
        "required": ["subject", "number"],
    }
    effect = "read"

    async def execute(self, subject: str, number: int) -> ToolResult:
        words = (
            hashlib.sha256(f"{subject} {number} {at}".encode()).hexdigest()[:6] for at in range(RESULT_WORDS)
        )
        return ToolResult(success=True, data=f"MARK-{subject} page {number}: {' '.join(words)}")


def fact(number: int) -> str:
    """What a person says to be kept in mind."""
    return f"Keep in mind: the value of item {number:03} is {number * 7919 % 10_007:05}."


class Model:
    """Plays every role; remembers what it was sent, by call."""

    def __init__(self, steps: int) -> None:
        self.sent: dict[str, tuple[ModelRequest, bytes]] = {}
        self.engine: Engine | None = None
        self.run_id = ""
        self._steps = steps
        self._said = 0

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        self.sent[request.call_id] = (request, messages_on_the_wire(request))
        return await self._answer(request)

    async def _answer(self, request: ModelRequest) -> ModelAnswer:
        turn = request.earlier_turns + sum(message.speaker == "assistant" for message in request.messages)
        match request.purpose:
            case "compress":
                return said(notes_of(request))
            case "chat":
                await self._say(turn)
                return looking("chat", turn) if turn < self._steps else said("Done.")
            case "execute":
                name = subtask_of(request)
                return looking(name, turn) if turn < self._steps else said(conclusion_of(name))
            case "conclude":
                return said(conclusion_of(subtask_of(request)))
            case "plan":
                subtasks = [
                    {"id": f"s{n}", "question": f"What of subject {n}?"} for n in range(1, SUBTASKS + 1)
                ]
                return said({"subtasks": subtasks})
            case "report":
                section: dict[str, Json] = {
                    "heading": "All",
                    "claims": [{"text": "So it is.", "conclusions": ["s1.1"]}],
                }
                content: dict[str, Json] = {"title": "T", "summary": "S.", "sections": [section]}
                return ModelAnswer("", (ToolCall("x", "write_report", content),), finish="tool_calls")
            case _:
                return said({"verdict": "accept", "reasons": []})

    async def _say(self, turn: int) -> None:
        """Half of the facts are pinned, half only said, spread over four fifths of the run."""
        every = max(1, self._steps * 4 // 5 // FACTS)
        if self.engine is not None and turn % every == 0 and self._said < FACTS:
            self._said += 1
            pin = self._said % 2 == 0
            await signals.say(self.engine.store, self.run_id, LOCAL_USER, fact(self._said), pin=pin)

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        return estimate_request_tokens(messages, tools)

    async def close(self) -> None:
        return


def said(value: object) -> ModelAnswer:
    """An answer in words or JSON; its usage is an estimate."""
    text = value if isinstance(value, str) else json.dumps(value)
    return ModelAnswer(text, usage=Usage(is_estimate=True))


def looking(subject: str, number: int) -> ModelAnswer:
    """An answer that asks for one more page."""
    thought = f"Page {number} of {subject} comes next, since the one before left the question open."
    call = ToolCall("x", "look", {"subject": subject, "number": number})
    return ModelAnswer(thought, (call,), usage=Usage(is_estimate=True), finish="tool_calls")


def conclusion_of(name: str) -> dict[str, Any]:
    """What an executor concludes."""
    return {"conclusions": [{"claim": f"{name} is so.", "sources": []}], "open_questions": []}


def notes_of(request: ModelRequest) -> dict[str, Any]:
    """Notes as a model would write them: what was looked at, and a fact for every fourth page."""
    text = request.messages[-1].text
    pages = [f"page {part.split(':')[0]}" for part in text.split(" page ")[1:]]
    facts = [{"claim": f"On {page} nothing stands out.", "sources": []} for page in pages[::4]]
    return {"goal": "to read all pages", "decisions": ["read on, page after page"], "facts": facts}


def subtask_of(request: ModelRequest) -> str:
    """The subtask an executor is asked about."""
    return request.messages[1].text.partition("SUBTASK: ")[2].partition("\n")[0]


def messages_on_the_wire(request: ModelRequest) -> bytes:
    """The messages of a request as they are sent."""
    body = wire_body(request, Dialect())
    start = body.index(b'"messages":')
    return body[start : body.index(b'],"stream":', start)]


async def played(directory: Path, workflow: str, steps: int) -> tuple[Model, list[Recorded], str]:
    """One run to its end: the model and what it was sent, the journal, and the state it ended in."""
    (directory / "tasks").mkdir()
    (directory / "outlast.yaml").write_text(CONFIG)
    (directory / "tasks" / "talk.yaml").write_text(TASK.replace("WORKFLOW", workflow))
    model = Model(steps)
    engine = Engine.from_config(directory / "outlast.yaml", tools=[Look], provider=model)
    await engine.open()
    begun = await engine.begin(Request(task="talk", input="What do the pages say?", is_claimed_here=True))
    model.run_id = begun.run_id
    model.engine = engine if workflow == "chat" else None
    await engine.work_on(begun.run_id)
    history = await read_history(engine.store, begun.run_id)
    row = await engine.store.read_run(begun.run_id)
    await engine.close()
    return model, history, row.state if row is not None else ""


def stability(model: Model, history: list[Recorded]) -> dict[str, Any]:
    """Between compressions: how much of each request the next one begins with, and how much of the next one that is."""
    kept: list[float] = []
    sent_before: list[float] = []
    last: dict[str, bytes] = {}
    for recorded in history:
        event = recorded.event
        if isinstance(event, ContextFolded | ContextSummarised):
            last.pop(event.branch, None)
        if isinstance(event, ModelRequested) and event.summarises_before is None:
            now = model.sent[event.call][1]
            before = last.get(event.branch)
            if before is not None:
                shared = common_prefix(before, now)
                kept.append(shared / len(before))
                sent_before.append(shared / len(now))
            last[event.branch] = now
    return {
        "requests": len(kept),
        "kept_mean": sum(kept) / len(kept),
        "kept_worst": min(kept),
        "sent_before_mean": sum(sent_before) / len(sent_before),
        "sent_before_worst": min(sent_before),
        "sent_before_worst_tenth": sorted(sent_before)[len(sent_before) // 10],
    }


def common_prefix(one: bytes, other: bytes) -> int:
    """How many bytes two requests begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def broken_pairs(requests: list[ModelRequest]) -> int:
    """In how many requests a call has no result, or a result no call."""
    return sum(not has_whole_pairs(request.messages) for request in requests)


def has_whole_pairs(messages: Sequence[Message]) -> bool:
    """Does every call have its result right after it, in order?"""
    expected: list[str] = []
    for before, message in pairwise(messages):
        if before.speaker == "assistant":
            expected = [call.id for call in before.tool_calls]
        if message.speaker == "tool":
            if not expected or message.tool_call_id != expected.pop(0):
                return False
        elif expected:
            return False
    return not expected


def never_compressed(history: list[Recorded]) -> int:
    """The tokens that would have been sent had every context been left as it was."""
    for_summaries = {
        one.event.call
        for one in history
        if isinstance(one.event, ModelRequested) and one.event.summarises_before is not None
    }
    conversations = Conversations(estimate_request_tokens)
    tokens = 0
    for recorded in history:
        event = recorded.event
        if (
            isinstance(event, ContextFolded | ContextSummarised)
            or getattr(event, "call", None) in for_summaries
        ):
            continue
        conversations.fold(recorded)
        if isinstance(event, ModelRequested):
            tokens += conversations[event.branch].tokens
    return tokens


def costs(model: Model, history: list[Recorded]) -> dict[str, Any]:
    """Tokens sent, beside what would have been sent had nothing ever been compressed, and the largest request."""
    requests = [request for request, _ in model.sent.values()]
    tokens = [estimate_request_tokens(request.messages, request.tools) for request in requests]
    made = [one.event for one in history if isinstance(one.event, ContextSummarised)]
    return {
        "steps": len(requests),
        "tokens_sent": sum(tokens),
        "tokens_if_never_compressed": never_compressed(history),
        "most_tokens": max(tokens),
        "summaries": len(made),
        "summaries_by_model": sum(one.by == "model" for one in made),
        "most_summary_tokens": max((one.tokens for one in made), default=0),
        "masks": sum(isinstance(one.event, ContextFolded) for one in history),
        "broken_pairs": broken_pairs(requests),
    }


async def chat(directory: Path, steps: int) -> dict[str, Any]:
    """One conversation."""
    model, history, state = await played(directory, "chat", steps)
    assert state == "COMPLETED", state
    last = list(model.sent.values())[-1][0]
    text = "\n".join(message.text for message in last.messages)
    missing = sum(text.count(fact(number)) != 1 for number in range(1, FACTS + 1))
    return {**costs(model, history), **stability(model, history), "missing_facts": missing}


async def research(directory: Path, steps: int) -> dict[str, Any]:
    """Subtasks side by side."""
    model, history, state = await played(directory, "research", steps)
    assert state == "COMPLETED", state
    mixed = 0
    for request, body in model.sent.values():
        if request.purpose in ("execute", "conclude"):
            own = subtask_of(request)
            others = [f"s{n}" for n in range(1, SUBTASKS + 1) if f"s{n}" != own]
            mixed += any(f"MARK-{other} ".encode() in body for other in others)
    return {**costs(model, history), **stability(model, history), "mixed_contexts": mixed}


async def main() -> None:
    asked = arguments(__doc__, ("chat", "research"), steps=500)
    emit(await (chat if asked.mode == "chat" else research)(asked.directory, asked.steps))


if __name__ == "__main__":
    asyncio.run(main())
