"""What a model saw: the context of one model call, made again from the journal, each part with the reason why it is in."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, Final

from outlast.domain.errors import CallerMistake
from outlast.domain.events import ModelRequested, Recorded
from outlast.domain.message import Message
from outlast.journal.fold import unknown_run
from outlast.journal.history import read_history
from outlast.ports.store import Store
from outlast.runs.conversation import Conversation
from outlast.runs.lines import Kind, Line, TokenCount
from outlast.runs.making_room import digest_of_request, messages_for
from outlast.runs.readings import Readings, read_all
from outlast.runs.scene import Scene
from outlast.runs.thread import known_thread

REASONS: Final[dict[Kind, str]] = {
    Kind.SYSTEM: "the prompt of the role, which never leaves",
    Kind.REQUEST: "what the conversation was opened with, which never leaves",
    Kind.MATERIAL: "what was handed over with the request, which never leaves",
    Kind.SAID: "said by a person, which never leaves",
    Kind.PINNED: "pinned by a person, which never leaves",
    Kind.TASK: "a background task that is open, which never leaves",
    Kind.DELIVERED: "the result of a background task, which never leaves",
    Kind.TOLD: "told by the engine, a role or another run, until it is folded",
    Kind.RECALLED: "brought back from memory, until it is folded",
    Kind.EARLIER: "the answer of an earlier run of the thread, until it is folded",
    Kind.SUMMARY: "the summary of what was folded",
    Kind.SPOKEN: "a turn of the model, until it is folded",
    Kind.OBSERVED: "the result of a call, until it is folded",
    Kind.ANSWERED: "what a person answered in a tool's place; its words never leave",
}
"""Why a line is in a context, by its kind."""

SECTIONS: Final[dict[str, frozenset[Kind]]] = {
    "system": frozenset({Kind.SYSTEM}),
    "pins": frozenset({Kind.PINNED}),
    "material": frozenset({Kind.MATERIAL}),
    "words": frozenset({Kind.REQUEST, Kind.SAID, Kind.ANSWERED}),
    "tasks": frozenset({Kind.TASK, Kind.DELIVERED}),
    "summary": frozenset({Kind.SUMMARY}),
    "recalled": frozenset({Kind.RECALLED}),
    "recent": frozenset({Kind.SPOKEN, Kind.OBSERVED, Kind.TOLD, Kind.EARLIER}),
}
"""The parts of the budget split, beside the tools."""


async def context_at(store: Store, run_id: str, position: int, count: TokenCount) -> dict[str, Any]:
    """What the model saw for the call that was intended at `position`: every message and why it is in, and the budget split.

    A position below 0 counts model calls from the end: -1 is the newest.

    `is_as_recorded` says whether the digest of the messages is the one the journal has. Raises NotFound (`unknown_run`) and
    CallerMistake (`not_a_model_call`) naming the positions of model calls.
    """
    history = await read_history(store, run_id)
    intent = _intent_at(run_id, history, position)
    position = int(intent.call[1:])
    thread, _ = await known_thread(store, history, count)
    readings = read_all(run_id, history[:position], count, thread)
    messages = messages_for(readings, intent)
    digest = digest_of_request(readings, intent, messages)
    return {
        "run_id": run_id,
        "seq": position,
        "call": intent.call,
        "branch": intent.branch,
        "role": intent.role,
        "model": intent.model,
        "purpose": intent.purpose,
        "is_as_recorded": digest == intent.digest,
        "digest": digest,
        "recorded_digest": intent.digest,
        **_told(readings, intent, messages, count),
    }


def _told(readings: Readings, intent: ModelRequested, messages: Any, count: TokenCount) -> dict[str, Any]:
    """The parts of the context and what they take: the lines of a conversation, or the messages that ask for a summary."""
    scene = Scene(readings, readings.state.branches[intent.branch])
    conversation, most = scene.conversation, scene.budget
    if intent.summarises_before is not None:
        asked = [_asked(message, intent, count) for message in messages]
        used = {"asking for a summary": sum(part["tokens"] for part in asked)}
        return {"max_tokens": most, "used_tokens": used, "tools": [], "parts": asked}
    tools = list(scene.branch.tools) if intent.with_tools else []
    parts = [_part(line, conversation.ratio) for line in conversation.lines]
    return {
        "max_tokens": most,
        "used_tokens": _split(conversation, with_tools=intent.with_tools),
        "tools": tools,
        "parts": parts,
    }


def _split(conversation: Conversation, *, with_tools: bool) -> dict[str, int]:
    """What each part of the budget took, in tokens, as estimated and corrected."""
    split = {
        name: sum(line.tokens for line in conversation.lines if line.kind in kinds)
        for name, kinds in SECTIONS.items()
    }
    split["tools"] = conversation.tools_estimate if with_tools else 0
    return {name: math.ceil(tokens * conversation.ratio) for name, tokens in split.items()}


def _part(line: Line, ratio: float) -> dict[str, Any]:
    reason = REASONS[line.kind] + ("; shown in short" if line.whole is not None else "")
    return {
        "seq": line.position,
        "kind": str(line.kind),
        "why": reason,
        "tokens": math.ceil(line.tokens * ratio),
        **_message(line.message),
    }


def _asked(message: Message, intent: ModelRequested, count: TokenCount) -> dict[str, Any]:
    why = "the notes that are asked for" if message.speaker == "system" else "the steps that are to be folded"
    tokens = count((message,), ())
    return {
        "seq": int(intent.call[1:]),
        "kind": "compress",
        "why": why,
        "tokens": tokens,
        **_message(message),
    }


def _message(message: Message) -> dict[str, Any]:
    told: dict[str, Any] = {"speaker": message.speaker, "text": message.text}
    if message.tool_calls:
        told["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls
        ]
    rest = asdict(message)
    return {**told, **{name: rest[name] for name in ("tool_call_id", "tool_name", "reasoning") if rest[name]}}


def _intent_at(run_id: str, history: list[Recorded], position: int) -> ModelRequested:
    if not history:
        raise unknown_run(run_id)
    asked = {one.position: one.event for one in history if isinstance(one.event, ModelRequested)}
    calls = list(asked)
    if -len(calls) <= position < 0:
        position = calls[position]
    if position in asked:
        return asked[position]
    shown = ", ".join(map(str, calls[:40])) + (", ..." if len(calls) > 40 else "") if calls else "none yet"
    raise CallerMistake(
        "not_a_model_call",
        f"No model was asked at event {position} of {run_id}. Models were asked at: {shown}.",
        "Name one of these; `outlast trace RUN` shows them as ModelRequested.",
    )
