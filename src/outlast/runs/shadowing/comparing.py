"""What is recorded of a shadowed step: what came of the variant, beside what came of the step itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from outlast.domain.bounded import bound
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, clean_text, in_words
from outlast.domain.errors import OutlastError
from outlast.domain.events import (
    AnyEvent,
    ModelAnswered,
    ModelFailed,
    QuestionAsked,
    ShadowCompared,
    ToolAnswered,
    ToolUnsettled,
)
from outlast.domain.shadow import Selector, Verdict
from outlast.domain.tool_call import ToolOutcome
from outlast.runs.shadowing.agreement import Agreement, of_answers, of_results

RESULT_BYTES: Final = 4000
"""How much of a variant's result is recorded."""

_DETAIL_CHARACTERS: Final = 1000


@dataclass(frozen=True, slots=True)
class Step:
    """A shadowed step: its call, what chose it, and the digest of the variant."""

    call: str
    selector: Selector
    variant: str

    def ended(self, verdict: Verdict, code: str, detail: str) -> ShadowCompared:
        """What is recorded where there is nothing to compare."""
        return ShadowCompared(
            call=self.call,
            selector=str(self.selector),
            variant=self.variant,
            verdict=verdict,
            code=code,
            detail=clean_text(detail)[:_DETAIL_CHARACTERS],
        )

    def failed(self, error: Exception) -> ShadowCompared:
        """What is recorded where the variant could not be built, or was not through in time."""
        if isinstance(error, OutlastError):
            return self.ended(Verdict.FAILED, error.code, error.detail)
        if isinstance(error, TimeoutError):
            return self.ended(Verdict.FAILED, "timeout", "The variant came to nothing in its time.")
        return self.ended(Verdict.FAILED, "variant_failed", in_words(error))

    def suppressed(self, arguments: dict[str, Json], why: str) -> ShadowCompared:
        """What is recorded of a call that would have had an effect."""
        return replace(self.ended(Verdict.SUPPRESSED, "suppressed", why), arguments=arguments)

    def came(self, other: Sequence[AnyEvent]) -> ShadowCompared:
        """What the variant came to, not compared with anything yet."""
        for event in other:
            match event:
                case ModelAnswered():
                    return self._answered(event)
                case ModelFailed(fault=fault, detail=detail):
                    failed = self.ended(Verdict.FAILED, f"model_{fault}", detail)
                    return replace(
                        failed,
                        tokens=event.spent_tokens,
                        cost_usd=event.spent_usd,
                        duration_ms=event.duration_ms,
                    )
                case ToolAnswered(outcome=outcome):
                    return self._settled(outcome)
                case QuestionAsked(text=text):
                    return self.ended(Verdict.SUPPRESSED, "suppressed", f"It would have asked: {text}")
                case ToolUnsettled(reason=reason):
                    return self.ended(Verdict.FAILED, "outcome_unknown", reason)
                case _:
                    continue
        raise AssertionError("a call comes to an answer, a failure or a question")

    def _answered(self, event: ModelAnswered) -> ShadowCompared:
        unusable = event.problem is not None
        return ShadowCompared(
            call=self.call,
            selector=str(self.selector),
            variant=self.variant,
            verdict=Verdict.FAILED if unusable else Verdict.UNCOMPARED,
            result=bound(event.text, RESULT_BYTES).shown,
            tool_calls=event.tool_calls,
            model=event.model,
            code="unusable_answer" if unusable else None,
            detail=event.problem or "",
            tokens=event.input_tokens + event.output_tokens,
            cost_usd=event.cost_usd,
            duration_ms=event.duration_ms,
        )

    def _settled(self, outcome: ToolOutcome) -> ShadowCompared:
        error = outcome.error
        return ShadowCompared(
            call=self.call,
            selector=str(self.selector),
            variant=self.variant,
            verdict=Verdict.UNCOMPARED if outcome.ok else Verdict.FAILED,
            result=bound(outcome.shown, RESULT_BYTES).shown if outcome.ok else "",
            code=error.code if error is not None else None,
            detail=error.detail[:_DETAIL_CHARACTERS] if error is not None else "",
            tokens=outcome.spent_tokens,
            cost_usd=outcome.spent_usd or None,
            duration_ms=outcome.duration_ms,
        )


def compared(came: ShadowCompared, other: Sequence[AnyEvent], own: AnyEvent | None) -> ShadowCompared:
    """A comparison that is complete: of what came of the variant, as events, and of the step itself.

    Where the step itself failed there is nothing to compare with, but for two calls of a tool that failed alike.
    """
    theirs = next((event for event in other if isinstance(event, ModelAnswered | ToolAnswered)), None)
    match own, theirs:
        case ModelAnswered(), ModelAnswered() if came.verdict is Verdict.UNCOMPARED:
            return _judged(came, of_answers(own, theirs))
        case ToolAnswered(outcome=outcome, by=None), ToolAnswered() if _is_of_the_tool(outcome):
            if theirs.outcome.ok or not outcome.ok:
                return _judged(came, of_results(outcome, theirs.outcome))
        case _ if came.verdict is Verdict.UNCOMPARED:
            return replace(came, code="step_failed", detail="The step itself has no result to compare with.")
    return came


def _is_of_the_tool(outcome: ToolOutcome) -> bool:
    """Is an outcome what the tool came to, and not what a hook made of it?"""
    return outcome.error is None or outcome.error.code != "vetoed"


def _judged(came: ShadowCompared, found: Agreement) -> ShadowCompared:
    verdict = Verdict.AGREED if found.is_equal else Verdict.DIFFERED
    return replace(came, verdict=verdict, measure=found.measure, overlap=round(found.overlap, 4))
