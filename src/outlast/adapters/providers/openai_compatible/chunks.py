"""The answer, put together from the chunks of a chat completion. Pure: what it is given, in order, decides
everything."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from typing import Final

from outlast.adapters.providers.openai_compatible.calls import CallBuilder
from outlast.adapters.providers.openai_compatible.refusal import Refusal, refusal_in_stream
from outlast.adapters.providers.openai_compatible.stream import DONE, Event
from outlast.adapters.providers.openai_compatible.surrogates import HalfKeeper
from outlast.adapters.providers.tokens import estimate_request_tokens, estimate_tokens
from outlast.domain.message import Usage
from outlast.ports.provider import Delta, Finish, ModelAnswer, ModelRequest

_log = logging.getLogger(__name__)

_FINISHES: Final[Mapping[str, Finish]] = {
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
}
_NOTHING: Final = Delta()


class Assembly:
    """One answer in the making.

    `trouble` is set when the server reports an error in place of the rest; `progress` grows with every piece.
    `is_whole` says that the server ended the answer: without that there is none, however much text has come.
    """

    def __init__(self, request: ModelRequest, tool_names: Mapping[str, str]) -> None:
        self._request = request
        self._tool_names = tool_names
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._text_halves = HalfKeeper()
        self._reasoning_halves = HalfKeeper()
        self._calls = CallBuilder()
        self._usage: Usage | None = None
        self._model = ""
        self._finish: str | None = None
        self._is_done = False
        self.trouble: Refusal | None = None
        self.progress = 0

    @property
    def is_done(self) -> bool:
        """Whether the server said that nothing follows."""
        return self._is_done

    @property
    def is_whole(self) -> bool:
        """Whether the server ended the answer, by a finish reason, or by [DONE] after there was something to
        end."""
        return self._finish is not None or (self._is_done and bool(self.progress))

    def take(self, event: Event) -> Delta:
        """Take one event of a stream; the piece it adds, empty if none."""
        if event.data == DONE:
            self._is_done = True
            return _NOTHING
        try:
            chunk = json.loads(event.data)
        except (ValueError, RecursionError):
            chunk = event.data if event.name == "error" else None
        if chunk is None:
            _log.debug("skipped a line of %d characters in a stream: it is not JSON", len(event.data))
            return _NOTHING
        return self._take_json(chunk, event.name)

    def take_body(self, body: object) -> Delta:
        """Take the whole answer of a server that does not stream; its end is the end of the answer."""
        added = self._take_json(body, "")
        self._is_done = True
        return added

    def end(self) -> Delta:
        """What was kept back, once nothing more comes."""
        return self._added(self._text_halves.rest(), self._reasoning_halves.rest())

    def answer(self) -> ModelAnswer:
        """The answer, once it is whole and ended."""
        assert self.is_whole
        finish: Finish = _FINISHES.get(self._finish or "", "stop")
        calls = self._calls.build(self._tool_names, is_cut=finish == "length")
        if finish in ("stop", "tool_calls"):
            finish = "tool_calls" if calls else "stop"
        return ModelAnswer(
            text="".join(self._text),
            tool_calls=calls,
            reasoning="".join(self._reasoning) or None,
            usage=self.usage(),
            finish=finish,
            model=self._model or self._request.model,
        )

    def usage(self) -> Usage:
        """What the server said it used up so far, or an estimate that says it is one."""
        if self._usage is not None:
            return self._usage
        asked = estimate_request_tokens(self._request.messages, self._request.tools)
        said = "".join((*self._text, *self._reasoning, self._calls.sent_text()))
        return Usage(asked, estimate_tokens(said), is_estimate=True)

    def _take_json(self, chunk: object, name: str) -> Delta:
        if isinstance(chunk, list):
            chunk = chunk[0] if chunk else None
        self.trouble = self.trouble or refusal_in_stream(chunk, name)
        if self.trouble or not isinstance(chunk, dict):
            return _NOTHING
        if isinstance(chunk.get("model"), str):
            self._model = chunk["model"]
        self._read_usage(chunk)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        return self._take_choice(choice) if isinstance(choice, dict) else _NOTHING

    def _take_choice(self, choice: Mapping[str, object]) -> Delta:
        self._read_usage(choice)
        reason = choice.get("finish_reason")
        if reason == "error":
            self.trouble = Refusal(
                status=502, message="The endpoint ended the answer with finish_reason: error."
            )
        elif isinstance(reason, str) and reason:
            self._finish = reason
        message = choice.get("message")
        delta = message if isinstance(message, dict) else choice.get("delta")
        if not isinstance(delta, dict):
            return _NOTHING
        self._take_calls(delta.get("tool_calls"), is_whole=delta is message)
        text, thinking = _content(delta.get("content"))
        reasoning = thinking or _content(delta.get("reasoning_content") or delta.get("reasoning"))[0]
        return self._added(
            self._text_halves.take(text + _refused(delta)), self._reasoning_halves.take(reasoning)
        )

    def _take_calls(self, deltas: object, *, is_whole: bool) -> None:
        for delta in deltas if isinstance(deltas, list) else ():
            self.progress += self._calls.add(delta, is_whole=is_whole)

    def _added(self, text: str, reasoning: str) -> Delta:
        if not text and not reasoning:
            return _NOTHING
        self._text.append(text)
        self._reasoning.append(reasoning)
        self.progress += 1
        return Delta(text, reasoning)

    def _read_usage(self, holder: Mapping[str, object]) -> None:
        usage = holder.get("usage")
        if isinstance(usage, dict):
            spent = _usage(usage)
            if spent.total_tokens:
                self._usage = spent


def _usage(usage: Mapping[str, object]) -> Usage:
    return Usage(
        int(_number(usage.get("prompt_tokens", usage.get("input_tokens")))),
        int(_number(usage.get("completion_tokens", usage.get("output_tokens")))),
        _number(usage["cost"]) if isinstance(usage.get("cost"), int | float) else None,
    )


def _number(value: object) -> float:
    return max(0.0, float(value)) if isinstance(value, int | float) and math.isfinite(value) else 0.0


_THOUGHTS: Final = frozenset({"reasoning", "thinking", "reasoning_text", "summary_text"})
"""Parts of a content that are thinking, whatever key their text has."""


def _content(content: object) -> tuple[str, str]:
    """The text and the thinking of a content that is a text, or a list of typed parts."""
    if isinstance(content, str):
        return content, ""
    text = thinking = ""
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict):
            said = _content(part.get("text"))[0]
            is_thought = part.get("type") in _THOUGHTS
            text += "" if is_thought else said
            thinking += _content(part.get("thinking"))[0] + (said if is_thought else "")
    return text, thinking


def _refused(delta: Mapping[str, object]) -> str:
    refusal = delta.get("refusal")
    return refusal if isinstance(refusal, str) else ""
