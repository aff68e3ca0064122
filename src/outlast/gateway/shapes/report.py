"""A report, as programs read it."""

from __future__ import annotations

from typing import Literal

from outlast.gateway.shapes.shape import Shape


class FoundBy(Shape):
    """The query a source came from, and the step that asked it."""

    step: int
    query: str


class Source(Shape):
    """A source that the report cites; `quote` stands in its text, word for word."""

    id: str
    title: str
    url: str
    quote: str
    fetched_at: str
    step: int
    found_by: FoundBy | None


class Claim(Shape):
    """What the report claims, the sources and steps it rests on, and how sure it is, from 0 to 1.

    `is_new` is there where the run that this one continues had not found it.
    """

    text: str
    sources: list[str]
    steps: list[int]
    confidence: float
    is_new: Literal[True] | None = None


class Section(Shape):
    """Claims under one heading."""

    heading: str
    claims: list[Claim]


class ReportDocument(Shape):
    """A report."""

    title: str
    question: str
    summary: str
    sections: list[Section]
    sources: list[Source]
    limits: list[str]
    outcome: str
