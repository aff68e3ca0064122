"""What is left of the earlier steps of a context once they have been folded: a structured summary, bounded in every part."""

from __future__ import annotations

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SummaryFact:
    """Something that was found out, the keys of the sources it came from, and their words where they were kept."""

    claim: str
    sources: tuple[str, ...] = ()
    quote: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSummary:
    """The earlier steps of a context.

    `goal` is what is being worked towards, `decisions` what was done and decided, oldest first, `facts` what was found out,
    `open_questions` what is not settled, `artifacts` the digests of stored results, `pending` what waited for a person or
    ran on when the summary was made: approvals and questions.
    """

    goal: str = ""
    decisions: tuple[str, ...] = ()
    facts: tuple[SummaryFact, ...] = ()
    open_questions: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
