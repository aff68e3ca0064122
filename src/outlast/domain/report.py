"""The report: claims with the sources and steps they rest on.

Sources are numbered S1, S2, ... by first citation when the report is made, so that equal findings give equal reports whatever
order they came in.
"""

from __future__ import annotations

from dataclasses import field

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FoundBy:
    """The search that led to a source: its step and its query."""

    step: int
    query: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A source as a report lists it. `quote` is a span of the stored text of the source, checked word for word."""

    id: str
    title: str
    url: str
    quote: str
    fetched_at: str
    step: int
    found_by: FoundBy | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement and what it rests on: ids of sources, steps of the run, a confidence from 0 to 1, and the span of its first
    source that it was drawn from, word for word (empty where none was found). `is_new` marks what the run that this one continues
    had not found."""

    text: str
    sources: tuple[str, ...]
    steps: tuple[int, ...] = ()
    confidence: float = 0.5
    quote: str = ""
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its claims, in order."""

    heading: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a research run. `limits` says in plain words what the report does not cover; `outcome` is full or partial."""

    title: str
    question: str
    summary: str
    sections: tuple[Section, ...]
    sources: tuple[Citation, ...]
    limits: tuple[str, ...] = field(default=())
    outcome: str = "full"
    language: str = "en"
