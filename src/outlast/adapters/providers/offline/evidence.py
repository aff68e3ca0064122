"""What a conversation holds: the searches made, the hits they gave, the pages that were read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Final

from outlast.adapters.providers.offline.json_texts import objects_in, parse_loosely, text_field
from outlast.adapters.providers.offline.pages import Page, page_from_cut, page_in
from outlast.adapters.providers.offline.reading import Fenced, read_message
from outlast.domain.dataclass import dataclass
from outlast.domain.message import Message
from outlast.domain.tool_call import ToolCall

OWN_NOTES: Final = "the summary of earlier steps"
"""The origin under which the engine shows a model the notes of its own earlier steps."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result: its address, title, passage, and its key in the ledger when the result names one."""

    url: str
    title: str
    snippet: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A conclusion of another subtask that the engine handed over."""

    claim: str
    sources: tuple[str, ...]
    quote: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Turn:
    """The calls of one assistant message."""

    calls: tuple[ToolCall, ...]

    def uses(self, tool: str) -> bool:
        """Was this tool called in the turn?"""
        return any(call.name == tool for call in self.calls)


@dataclass
class Evidence:
    """Everything a conversation has gathered. `turns` are those since the person or the reviewer last spoke; `round` counts these."""

    hits: list[Hit] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    asked_urls: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    round: int = 0

    @cached_property
    def unread(self) -> list[Hit]:
        """Hits whose page was not asked for, each page once, best first."""
        seen = {_page_of(url) for url in self.asked_urls}
        kept: list[Hit] = []
        for hit in self.hits:
            if hit.url and _page_of(hit.url) not in seen:
                seen.add(_page_of(hit.url))
                kept.append(hit)
        return kept

    @property
    def citable(self) -> list[Page]:
        """The pages read; where none was, the passages of search results that carry a key."""
        return self.pages or [
            Page(hit.source, hit.url, hit.title, hit.snippet, is_snippet=True)
            for hit in self.hits
            if hit.source and hit.snippet
        ]


def evidence_of(messages: Sequence[Message]) -> Evidence:
    """What `messages` hold. Results that cannot be read are passed over."""
    evidence = Evidence()
    for message in messages:
        if message.speaker == "user":
            evidence.round += 1
            evidence.turns.clear()
            for part in read_message(message.text).fenced:
                _take_material(evidence, part)
        elif message.speaker == "assistant" and message.tool_calls:
            _take_calls(evidence, message)
        elif message.speaker == "tool":
            for payload in payloads_of(message):
                _take_result(evidence, payload)
    return evidence


def payloads_of(message: Message) -> list[str]:
    """The fenced texts of a message; a tool message without a fence is material as a whole."""
    fenced: list[Fenced] = read_message(message.text).fenced
    if not fenced and message.speaker == "tool":
        return [message.text]
    return [part.text for part in fenced]


def _take_material(evidence: Evidence, part: Fenced) -> None:
    """What the engine hands over: findings of others, or the notes of the model's own earlier steps."""
    value = parse_loosely(part.text)
    if part.origin == OWN_NOTES and isinstance(value, dict):
        _take_notes(evidence, value)
    else:
        evidence.findings.extend(_findings_in(value))


def _take_notes(evidence: Evidence, notes: dict[str, Any]) -> None:
    """What was read and asked before: quotes stand for the pages they are from."""
    for finding in _findings_in(notes.get("facts")):
        if finding.sources and finding.quote:
            _add_page(evidence, Page(finding.sources[0], "", "", finding.quote))
    decisions = notes.get("decisions")
    for told in decisions if isinstance(decisions, list) else ():
        name, _, arguments = str(told).partition(" ")
        asked = parse_loosely(arguments) if name.isidentifier() else None
        if isinstance(asked, dict):
            _take_arguments(evidence, asked)


def _findings_in(value: object) -> Iterator[Finding]:
    for entry in objects_in(value):
        claim, sources, confidence = (
            text_field(entry, "claim"),
            entry.get("sources"),
            entry.get("confidence"),
        )
        if claim and isinstance(sources, list):
            keys = tuple(key for key in sources if isinstance(key, str))
            sure = float(confidence) if isinstance(confidence, int | float) and abs(confidence) <= 1 else 0.0
            yield Finding(claim, keys, text_field(entry, "quote"), sure)


def _take_calls(evidence: Evidence, message: Message) -> None:
    evidence.turns.append(Turn(message.tool_calls))
    for call in message.tool_calls:
        _take_arguments(evidence, call.arguments)


def _take_arguments(evidence: Evidence, arguments: Mapping[str, object]) -> None:
    query, url = arguments.get("query"), arguments.get("url")
    if isinstance(query, str):
        evidence.queries.append(query)
    if isinstance(url, str):
        evidence.asked_urls.add(url)


def _take_result(evidence: Evidence, payload: str) -> None:
    value = parse_loosely(payload)
    if value is None:
        page = page_from_cut(payload)
        if page is not None:
            _add_page(evidence, page)
        return
    for entry in objects_in(value):
        page = page_in(entry)
        if page is not None:
            _add_page(evidence, page)
        elif text_field(entry, "url") and "snippet" in entry:
            names = ("url", "title", "snippet", "source")
            evidence.hits.append(Hit(*(text_field(entry, name) for name in names)))


def _add_page(evidence: Evidence, page: Page) -> None:
    """Parts of one page are one page, at the place of the first."""
    for at, known in enumerate(evidence.pages):
        if known.source == page.source:
            evidence.pages[at] = known.with_part(page)
            return
    evidence.pages.append(page)


def _page_of(url: str) -> str:
    return url.partition("#")[0].rstrip("/")
