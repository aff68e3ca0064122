"""What models say on stage."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from outlast.domain.message import Message, Usage
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.runs.workflows.research.reporting import outcome_of

Answering = Callable[[ModelRequest], ModelAnswer | Awaitable[ModelAnswer]]


def say(text: str, **more: Any) -> ModelAnswer:
    """An answer in words."""
    return ModelAnswer(text, usage=more.pop("usage", Usage(10, 5)), **more)


def give(value: object) -> ModelAnswer:
    """An answer in JSON."""
    return say(json.dumps(value, ensure_ascii=False))


def call(name: str, /, **arguments: Any) -> ToolCall:
    return ToolCall("", name, arguments)


def ask_for(*calls: ToolCall, text: str = "", **more: Any) -> ModelAnswer:
    """An answer that asks for calls."""
    return ModelAnswer(text, calls, usage=more.pop("usage", Usage(10, 5)), finish="tool_calls", **more)


def results(request: ModelRequest) -> list[Message]:
    """The results of calls in a request, in order."""
    return [message for message in request.messages if message.speaker == "tool"]


def turn(request: ModelRequest) -> int:
    """How often the model has spoken in this conversation before."""
    return request.earlier_turns + sum(message.speaker == "assistant" for message in request.messages)


def in_turn(*answers: ModelAnswer) -> Answering:
    """Gives these answers by the turn of the conversation; the last one again and again."""

    def answering(request: ModelRequest) -> ModelAnswer:
        return answers[min(turn(request), len(answers) - 1)]

    return answering


def subtask(name: str, question: str = "", depends_on: Iterable[str] = ()) -> dict[str, Any]:
    return {"id": name, "question": question or f"What about {name}?", "depends_on": list(depends_on)}


def plan(*subtasks: dict[str, Any]) -> ModelAnswer:
    return give({"subtasks": subtasks or [subtask("s1"), subtask("s2"), subtask("s3")]})


def conclude(*claims: dict[str, Any] | str, open_questions: Sequence[str] = ()) -> ModelAnswer:
    listed = [{"claim": one, "sources": []} if isinstance(one, str) else one for one in claims]
    return give({"conclusions": listed, "open_questions": list(open_questions)})


def went_through(state: RunState) -> bool:
    """Has a research come to its end, with no limit reached and no subtask given up, whatever its report found?"""
    return state.state is State.COMPLETED and outcome_of(state) == "full"


def verdict(word: str, *reasons: str) -> ModelAnswer:
    return give({"verdict": word, "reasons": list(reasons)})


def report(*claims: dict[str, Any], **more: Any) -> ModelAnswer:
    """A report of one section, handed in."""
    content = {
        "title": "Title",
        "summary": "Summary.",
        "sections": [{"heading": "Findings", "claims": list(claims)}],
    }
    return ask_for(call("write_report", **{**content, **more}))


def subtask_of(request: ModelRequest) -> str:
    """The subtask a request of an executor is about."""
    opening = request.messages[1].text
    return opening.partition("SUBTASK: ")[2].partition("\n")[0]


def roles(**answering: ModelAnswer | Answering) -> Answering:
    """A model that answers by the purpose it is asked for; what is not given runs a plain research without a hitch.

    The executor of a subtask concludes one claim without a source, the writer hands in what it was shown. So the report finds
    nothing, and the run's outcome is partial; `went_through` tells whether anything else went wrong.
    """
    usual: dict[str, ModelAnswer | Answering] = {
        "plan": plan(),
        "execute": lambda request: conclude(f"{subtask_of(request)} is so."),
        "conclude": lambda request: conclude(f"{subtask_of(request)} is so."),
        "review": verdict("accept"),
        "report": report({"text": "All is so.", "conclusions": ["s1.1"]}),
        "final_review": verdict("accept"),
        **answering,
    }

    def by_purpose(request: ModelRequest) -> ModelAnswer | Awaitable[ModelAnswer]:
        chosen = usual[request.purpose]
        return chosen(request) if callable(chosen) else chosen

    return by_purpose
