"""A breaker before an endpoint: one that failed several times in a row is left alone for a while.

Without it every run and subtask of a process finds out for itself, with all its retries, that an endpoint is away.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from outlast.domain.errors import ModelCallFailed, ModelFault
from outlast.domain.message import Message
from outlast.ports.provider import ModelAnswer, ModelRequest, Observer, Provider, ToolSchema

FAILURES_TO_OPEN: Final = 5
OPEN_SECONDS: Final = 30.0

_OF_THE_ENDPOINT: Final[frozenset[ModelFault]] = frozenset({"overload", "unreachable", "timeout"})
"""Faults that say something of the endpoint, whoever asks. A rate limit is a caller's own, and states its wait."""


class Circuit:
    """The line to one endpoint, shared by all that ask it. It opens after `failures` failures in a row, for `seconds`; then one call
    is let through, and an answer closes it again. Seconds are those of `clock`, which never goes back."""

    def __init__(
        self,
        *,
        failures: int = FAILURES_TO_OPEN,
        seconds: float = OPEN_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bound = failures
        self._seconds = seconds
        self._clock = clock
        self._failures = 0
        self._open_until = 0.0
        self._is_trying = False

    @contextmanager
    def call(self) -> Iterator[None]:
        """Around one call. Raises ModelCallFailed (`overload`) at once while the line is open, with the time to wait."""
        is_trial = self._failures >= self._bound
        if is_trial:
            self._refuse_or_try()
        try:
            yield
        except ModelCallFailed as failure:
            self._count(failure)
            raise
        finally:
            if is_trial:
                self._is_trying = False
        self._failures = 0

    def _refuse_or_try(self) -> None:
        left = self._open_until - self._clock()
        if left <= 0 and not self._is_trying:
            self._is_trying = True
            return
        raise ModelCallFailed(
            "overload",
            f"The endpoint failed {self._failures} times in a row and is left alone for {max(left, 1):.0f} more seconds.",
            "Wait; the run goes on by itself. See whether the endpoint is up with `outlast doctor --llm`.",
            retry_after_seconds=max(left, 1.0),
        )

    def _count(self, failure: ModelCallFailed) -> None:
        if failure.fault not in _OF_THE_ENDPOINT:
            self._failures = 0
            return
        self._failures += 1
        if self._failures >= self._bound:
            self._open_until = self._clock() + self._seconds


class Breaker:
    """A provider that asks its endpoint only while the line to it is closed."""

    def __init__(self, provider: Provider, circuit: Circuit) -> None:
        self._provider = provider
        self._circuit = circuit

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        """As the provider answers, or ModelCallFailed as `Circuit.call` raises it."""
        with self._circuit.call():
            return await self._provider.answer(request, observe)

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        """As the provider counts."""
        return self._provider.count_tokens(messages, tools)

    async def close(self) -> None:
        """Close the provider; others may still ask the endpoint."""
        await self._provider.close()
