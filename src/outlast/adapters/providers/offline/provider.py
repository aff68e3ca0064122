"""The provider itself: which part answers which purpose, and how the answer is streamed and counted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from outlast.adapters.providers.offline.asked import Asked, asked_by
from outlast.adapters.providers.offline.chat import chat_reply, notice_of, summary_of
from outlast.adapters.providers.offline.compress import notes_for
from outlast.adapters.providers.offline.conclude import conclusions_for
from outlast.adapters.providers.offline.evidence import evidence_of
from outlast.adapters.providers.offline.explore import next_calls
from outlast.adapters.providers.offline.judge import final_review_of, review_of
from outlast.adapters.providers.offline.plan import plan_for
from outlast.adapters.providers.offline.reply import Reply, call, json_reply
from outlast.adapters.providers.offline.schema import fitting
from outlast.adapters.providers.offline.write import report_for
from outlast.adapters.providers.tokens import estimate_request_tokens, estimate_tokens
from outlast.domain.door import clean_text
from outlast.domain.message import Message, Usage
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest, Observer, ToolSchema

MODEL_NAME: Final = "offline-extractive"
_PIECE_CHARACTERS: Final = 48
_WRITE_REPORT: Final = "write_report"


class OfflineProvider:
    """A model that chooses and quotes sentences: no network, no key, no download, and the same answer to the same request.

    Temperature, model name and `max_tokens` change nothing: its answers are short by themselves.
    """

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        """The whole answer to `request`; its text is streamed in pieces. Raises nothing."""
        reply = reply_to(request)
        text = clean_text(reply.text)
        for piece in _pieces(text):
            observe(Delta(text=piece))
            await asyncio.sleep(0)
        arguments = "".join(json.dumps(one.arguments) for one in reply.calls)
        usage = Usage(
            input_tokens=self.count_tokens(request.messages, request.tools),
            output_tokens=estimate_tokens(text) + estimate_tokens(arguments),
            cost_usd=0.0,
            is_estimate=True,
        )
        return ModelAnswer(
            text, reply.calls, usage=usage, finish="tool_calls" if reply.calls else "stop", model=MODEL_NAME
        )

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        """An estimate, made offline, of the tokens `messages` and `tools` would take."""
        return estimate_request_tokens(messages, tools)

    async def close(self) -> None:
        """Nothing is held open."""


def reply_to(request: ModelRequest) -> Reply:
    """The reply to `request`: a pure function of it."""
    asked = asked_by(request)
    own = _BY_PURPOSE.get(request.purpose)
    if own is not None:
        return own(request, asked)
    text = notice_of(request, asked)
    if request.response_schema is not None:
        return json_reply(fitting(request.response_schema, text))
    return Reply(text)


def _plan(request: ModelRequest, asked: Asked) -> Reply:
    return json_reply(plan_for(asked))


def _execute(request: ModelRequest, asked: Asked) -> Reply:
    evidence = evidence_of(request.messages)
    calls = next_calls(request, asked, evidence)
    return Reply(calls=calls) if calls else json_reply(conclusions_for(asked, evidence, request.messages))


def _conclude(request: ModelRequest, asked: Asked) -> Reply:
    return json_reply(conclusions_for(asked, evidence_of(request.messages), request.messages))


def _review(request: ModelRequest, asked: Asked) -> Reply:
    return json_reply(review_of(request, asked))


def _final_review(request: ModelRequest, asked: Asked) -> Reply:
    return json_reply(final_review_of(request, asked))


def _report(request: ModelRequest, asked: Asked) -> Reply:
    """The report as one call; as text where the call is not offered or was made already."""
    content = report_for(request, asked)
    was_written = any(turn.uses(_WRITE_REPORT) for turn in evidence_of(request.messages).turns)
    if any(tool.name == _WRITE_REPORT for tool in request.tools) and not was_written:
        return Reply(calls=(call(_WRITE_REPORT, **content),))
    return (
        Reply(str(content["summary"]))
        if was_written and request.response_schema is None
        else json_reply(content)
    )


def _summarize(request: ModelRequest, asked: Asked) -> Reply:
    return _spoken(request, summary_of(request, asked))


def _compress(request: ModelRequest, asked: Asked) -> Reply:
    return json_reply(notes_for(request, asked))


def _chat(request: ModelRequest, asked: Asked) -> Reply:
    reply = chat_reply(request, asked)
    return reply if reply.calls else _spoken(request, reply.text)


def _spoken(request: ModelRequest, text: str) -> Reply:
    return (
        Reply(text) if request.response_schema is None else json_reply(fitting(request.response_schema, text))
    )


_BY_PURPOSE: Final[Mapping[str, Callable[[ModelRequest, Asked], Reply]]] = {
    "plan": _plan,
    "execute": _execute,
    "conclude": _conclude,
    "review": _review,
    "final_review": _final_review,
    "report": _report,
    "summarize": _summarize,
    "compress": _compress,
    "chat": _chat,
}


def _pieces(text: str) -> Iterator[str]:
    for at in range(0, len(text), _PIECE_CHARACTERS):
        yield text[at : at + _PIECE_CHARACTERS]
