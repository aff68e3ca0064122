"""A provider that plays a script or asks a function: no network, no key, the same answer to the same
request."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from outlast.adapters.providers.scripted.choice import calls_of, choose, fits, turn_of
from outlast.adapters.providers.scripted.script import Failure, Rule, load_script, read_script
from outlast.adapters.providers.tokens import estimate_request_tokens
from outlast.domain.door import clean_text
from outlast.domain.errors import ModelCallFailed
from outlast.domain.message import Message, Usage
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest, Observer, ToolSchema

Answering = Callable[[ModelRequest], ModelAnswer | Awaitable[ModelAnswer]]
"""Answers a request. Let it depend on the request alone, so that it says the same after a crash."""

_PIECES = 4


class ScriptExhausted(ModelCallFailed):
    """No entry of the script answers the request; asking again will not help."""

    def __init__(self, detail: str) -> None:
        super().__init__(
            "bad_request",
            detail,
            "Add an entry for it to the script, or `repeat: true` to one that is spent.",
        )
        self.code = "script_exhausted"


class ScriptedProvider:
    """Answers from a script: a list of entries (Rules, or mappings as in a script file), or a function.

    The first entry that fits and is not spent answers; see `choice` for when one is spent. Raises
    CallerMistake (`invalid_script`) for a script that cannot be read.
    """

    def __init__(self, script: Sequence[Rule | Mapping[str, object]] | Answering) -> None:
        self._answering: Answering | None = script if callable(script) else None
        self._rules: tuple[Rule, ...] = () if callable(script) else read_script(script)
        self._failed: set[tuple[str, int]] = set()

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """A provider that plays the script in `path`, a YAML or JSON file."""
        return cls(load_script(path))

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        """What the script says to `request`, in a few pieces. Raises ModelCallFailed as scripted."""
        answer = await (self._asked(request) if self._answering else self._played(request))
        for piece in _pieces(answer.text):
            observe(Delta(text=piece))
            await asyncio.sleep(0)
        return answer

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        """An estimate, made offline, of the tokens `messages` and `tools` would take."""
        return estimate_request_tokens(messages, tools)

    async def close(self) -> None:
        """Nothing to give up."""

    async def _asked(self, request: ModelRequest) -> ModelAnswer:
        assert self._answering is not None
        answer = self._answering(request)
        return await answer if inspect.isawaitable(answer) else answer

    async def _played(self, request: ModelRequest) -> ModelAnswer:
        index = choose(
            self._rules, request, {entry for call_id, entry in self._failed if call_id == request.call_id}
        )
        if index is None:
            raise ScriptExhausted(_exhausted(self._rules, request))
        rule = self._rules[index]
        if rule.delay_seconds:
            await asyncio.sleep(rule.delay_seconds)
        if rule.fail:
            self._failed.add((request.call_id, index))
            raise _failed(rule.fail)
        return _spoken(rule, request)


def _spoken(rule: Rule, request: ModelRequest) -> ModelAnswer:
    calls = calls_of(rule)
    return ModelAnswer(
        text=clean_text(rule.say),
        tool_calls=calls,
        reasoning=rule.reasoning,
        usage=_usage(rule, request),
        finish=rule.finish or ("tool_calls" if calls else "stop"),
        model=request.model,
    )


def _usage(rule: Rule, request: ModelRequest) -> Usage:
    if rule.usage:
        return Usage(rule.usage.input_tokens, rule.usage.output_tokens, rule.usage.cost_usd)
    said = Message("assistant", rule.say, calls_of(rule), reasoning=rule.reasoning)
    asked = estimate_request_tokens(request.messages, request.tools)
    return Usage(asked, estimate_request_tokens((said,), ()), is_estimate=True)


def _failed(failure: Failure) -> ModelCallFailed:
    return ModelCallFailed(
        failure.fault, failure.detail, "Change the script.", retry_after_seconds=failure.retry_after_seconds
    )


def _pieces(text: str) -> Iterator[str]:
    size = max(1, -(-len(text) // _PIECES))
    return (text[start : start + size] for start in range(0, len(text), size))


def _exhausted(rules: Sequence[Rule], request: ModelRequest) -> str:
    newest = clean_text(request.messages[-1].text)[-200:] if request.messages else ""
    spent = ", ".join(str(number) for number, rule in enumerate(rules, start=1) if fits(rule.when, request))
    return (
        f"The script has no entry for call {request.call_id} (purpose {request.purpose}, "
        f"role {request.role}, turn {turn_of(request)}); its newest message ends in {newest!r}. "
        + (f"Entry {spent} would fit, but is spent here." if spent else "No entry fits it.")
    )
