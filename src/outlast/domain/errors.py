"""Every failure outlast can name, split by who must act.

    OutlastError
    |-- CallerMistake    fix the request (exit 2, 4xx)
    |   |-- NotFound         there is no such thing (exit 4, 404)
    |   `-- Conflict         it clashes with what is there (exit 5, 409)
    |-- ModelMistake     goes back to the model as a structured error
    |-- ToolTrouble      the model is told and adapts
    |-- Passing          the engine tries again, bounded
    |   `-- ModelCallFailed  a model endpoint refused, broke off or was not reached
    `-- Broken           stop and tell an operator

An error is raised with a `code` that never changes its meaning, a `detail` for people and a `next_step` that says what to
do. Each code has a heading in docs/reference/errors.md.
"""

from __future__ import annotations

from typing import Literal


class OutlastError(Exception):
    """A failure with a stable `code`, a `detail` for people and, where there is one, the `next_step` to take."""

    def __init__(self, code: str, detail: str, next_step: str = "") -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.detail} {self.next_step}".strip()


class CallerMistake(OutlastError):
    """The request cannot be carried out as it stands; whoever made it must change it."""


class NotFound(CallerMistake):
    """The thing named does not exist, or is not the caller's."""


class Conflict(CallerMistake):
    """The request clashes with the present state; look again, then decide."""


class ModelMistake(OutlastError):
    """What the model produced cannot be used; it is told exactly why and may try again."""


class ToolTrouble(OutlastError):
    """A tool could not do its work; the model is told and adapts."""


class Passing(OutlastError):
    """A trouble that may pass; the engine tries again within its bounds."""


class Broken(OutlastError):
    """Something outlast relies on does not hold; an operator must look."""


ModelFault = Literal[
    "rate_limit",
    "overload",
    "unreachable",
    "timeout",
    "cut_stream",
    "provider_error",
    "context_exceeded",
    "bad_request",
    "auth",
]
"""What went wrong with a model call. The first six may pass; the rest will not by waiting."""

PASSING_FAULTS: frozenset[str] = frozenset(
    {"rate_limit", "overload", "unreachable", "timeout", "cut_stream", "provider_error"}
)


class ModelCallFailed(Passing):
    """A model call ended without a usable answer.

    `fault` classifies it; `retry_after_seconds` is the server's own wish, when it stated one; `spent_tokens` are the tokens
    known or estimated to be used up all the same, `spent_output_tokens` those of them that were answered, and `spent_usd` their
    cost where the endpoint stated it.
    """

    def __init__(
        self,
        fault: ModelFault,
        detail: str,
        next_step: str = "",
        *,
        retry_after_seconds: float | None = None,
        spent_tokens: int = 0,
        spent_output_tokens: int = 0,
        spent_usd: float | None = None,
    ) -> None:
        super().__init__(f"model_{fault}", detail, next_step)
        self.fault: ModelFault = fault
        self.retry_after_seconds = retry_after_seconds
        self.spent_tokens = spent_tokens
        self.spent_output_tokens = spent_output_tokens
        self.spent_usd = spent_usd
