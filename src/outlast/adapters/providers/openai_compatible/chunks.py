"""The answer, put together from the chunks of a chat completion. Pure: what it is given, in order, decides
everything."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Final, TypeGuard

from outlast.adapters.providers.openai_compatible.calls import CallBuilder
from outlast.adapters.providers.openai_compatible.refusal import (
    Refusal,
    refusal_in_body,
    refusal_in_stream,
)
from outlast.adapters.providers.openai_compatible.stream import DONE, Event
from outlast.adapters.providers.openai_compatible.surrogates import HalfKeeper, joined
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
_NO_FINISHES: Final = frozenset({"", "null", "none"})
"""What some servers put in every chunk in place of null."""

_CALLS: Final = frozenset({"tool_calls", "function_call", "tool_use"})
_MOST_TOKENS: Final = 10**9
_MOST_USD: Final = 10**6
"""What a call can use up at most: a server that states more has miscounted."""

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
        self._choice: object = None
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
        """Take one event of a stream, or the whole body of a server that does not stream; the piece it adds, empty if none.

        What is no JSON is passed over, as keep-alives of some servers are, unless it begins as a chunk does: then something of the
        answer is lost, and the rest must not be taken for the whole.
        """
        if event.data == DONE:
            self._is_done = True
            return _NOTHING
        try:
            chunk = _parsed(event.data)
        except (ValueError, RecursionError):
            return self._take_no_json(event)
        added = self._take_json(chunk, event.name)
        if event.is_document:
            self._is_done = True
            self.trouble = self.trouble or (None if self.progress else refusal_in_body(chunk))
        return added

    def end(self) -> Delta:
        """What was kept back, once nothing more comes."""
        added = self._added(self._text_halves.rest(), self._reasoning_halves.rest())
        if self._finish in _CALLS and not self._calls and not any(self._text):
            self.trouble = self.trouble or Refusal(0, "It ended in order to call a tool, and named none.")
        return added

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

    def _take_no_json(self, event: Event) -> Delta:
        if event.name == "error":
            self.trouble = self.trouble or refusal_in_stream(event.data, event.name)
        elif event.data.startswith("{") or event.is_document:
            self.trouble = self.trouble or Refusal(0, "A piece of the answer is not JSON.")
        else:
            _log.debug("skipped a line of %d characters in a stream: it is not JSON", len(event.data))
        return _NOTHING

    def _take_json(self, chunk: object, name: str) -> Delta:
        if isinstance(chunk, list):
            added = [self._take_json(item, name) for item in chunk]
            return Delta("".join(one.text for one in added), "".join(one.reasoning for one in added))
        if isinstance(chunk, dict):
            self._read_usage(chunk)
        self.trouble = self.trouble or refusal_in_stream(chunk, name)
        if self.trouble or not isinstance(chunk, dict):
            return _NOTHING
        if isinstance(chunk.get("model"), str):
            self._model = joined(chunk["model"])
        choices = chunk.get("choices")
        choice = self._meant(choices) if isinstance(choices, list) else None
        return self._take_choice(choice) if choice is not None else _NOTHING

    def _meant(self, choices: Sequence[object]) -> dict[str, object] | None:
        """The part of a chunk that is about the one answer asked for, where a server gives several."""
        for choice in choices:
            if isinstance(choice, dict):
                index = choice.get("index")
                self._choice = index if self._choice is None else self._choice
                if index is None or index == self._choice:
                    return choice
        return None

    def _take_choice(self, choice: Mapping[str, object]) -> Delta:
        self._read_usage(choice)
        reason = choice.get("finish_reason")
        if reason == "error":
            self.trouble = Refusal(
                status=502, message="The endpoint ended the answer with finish_reason: error."
            )
        elif isinstance(reason, str) and reason.lower() not in _NO_FINISHES:
            self._finish = reason
        message = choice.get("message")
        delta = message if isinstance(message, dict) else choice.get("delta")
        if not isinstance(delta, dict):
            return _NOTHING
        if delta.get("tool_calls"):
            self._take_calls(delta["tool_calls"], is_whole=delta is message)
        if delta.get("function_call"):
            self._take_calls([{"function": delta["function_call"]}], is_whole=delta is message)
        text, thinking = _content(delta.get("content"))
        if refusal := delta.get("refusal"):
            text += _content(refusal)[0]
        if not thinking and (reasoning := delta.get("reasoning_content") or delta.get("reasoning")):
            thinking = _content(reasoning)[0]
        return self._added(self._text_halves.take(text), self._reasoning_halves.take(thinking))

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
            self._usage = _usage(usage) or self._usage


def _usage(usage: Mapping[str, object]) -> Usage | None:
    """What a server states was used up; None where it states nothing, or what cannot be."""
    asked = usage.get("prompt_tokens", usage.get("input_tokens")) or 0
    said = usage.get("completion_tokens", usage.get("output_tokens")) or 0
    if not (_is_between(asked, _MOST_TOKENS) and _is_between(said, _MOST_TOKENS) and asked + said):
        return None
    cost = usage.get("cost")
    return Usage(int(asked), int(said), float(cost) if _is_between(cost, _MOST_USD) else None)


def _is_between(value: object, most: int) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most


def _parsed(data: str) -> object:
    """The JSON of an event. Arguments that come as an object may name no key twice, as those that come as text may not."""
    has_arguments = '"arguments":{' in data or '"arguments": {' in data
    parsed: object = json.loads(data, object_pairs_hook=_unique if has_arguments else None)
    return parsed


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("an object names a key twice")
    return value


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
