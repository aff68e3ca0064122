"""Making the report: claims are tied to conclusions and sources of the ledger, sources are numbered by first citation.

A claim without support is left out and named under the limits; nothing can be cited that was not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.errors import ModelMistake
from outlast.domain.plan import Conclusion, Progress
from outlast.domain.report import Citation, Claim, Report, Section
from outlast.domain.run import RunState
from outlast.runs.forms import text_in, texts_in
from outlast.runs.inheritance import changed_sources, is_old
from outlast.runs.ledger import EARLIER_STEP, Entry, Ledger
from outlast.runs.report_words import WORDS, language_of


@dataclass(frozen=True, slots=True)
class Made:
    """A report and the claims that were left out of it."""

    report: Report
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Support:
    """What a claim rests on: ledger entries, the quote from the first of them, a confidence, and whether the run that this one
    continues had concluded all of it."""

    entries: tuple[Entry, ...]
    quote: str
    confidence: float
    is_old: bool = False


def from_draft(content: dict[str, Json], state: RunState, ledger: Ledger, outcome: str) -> Made:
    """The report a writer handed in. Raises ModelMistake (`unsupported_report`) when not one claim has support although there are
    conclusions that have."""
    conclusions = _conclusions(state)
    maker = _Maker(state)
    dropped: list[str] = []
    sections = []
    for section in _objects(content.get("sections")):
        claims = []
        for drafted in _objects(section.get("claims")):
            text = text_in(drafted, "text").strip()
            support = _support(drafted, conclusions, state, ledger)
            if text and support is not None:
                claims.append(maker.claim(text, support))
            elif text:
                dropped.append(text)
        if claims:
            sections.append(Section(text_in(section, "heading").strip() or "-", tuple(claims)))
    if not sections and any(one.is_supported and one.sources for one in conclusions.values()):
        ids = ", ".join(conclusions)
        raise ModelMistake(
            "unsupported_report",
            f"No claim names a conclusion or source there is. Conclusions: {ids}.",
            "Name their ids.",
        )
    return _made(state, maker, sections, dropped, outcome, content)


def from_conclusions(state: RunState, ledger: Ledger, outcome: str, reason: str) -> Made:
    """The report that can be made without a model: the conclusions, by subtask, in plan order."""
    maker = _Maker(state)
    dropped: list[str] = []
    sections = []
    for item in state.plan:
        claims = []
        for one in item.conclusions:
            support = _of_conclusions([one], state, ledger)
            if support is None:
                dropped.append(one.claim)
            else:
                claims.append(maker.claim(one.claim, support))
        if claims:
            sections.append(Section(item.subtask.question, tuple(claims)))
    content: dict[str, Json] = {"limits": [reason] if reason else []}
    return _made(state, maker, sections, dropped, outcome, content)


class _Maker:
    """Numbers sources as they are first cited."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._cited: dict[str, Citation] = {}

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(self._cited.values())

    def claim(self, text: str, support: Support) -> Claim:
        ids = [
            self._cite(entry, support.quote if index == 0 else "")
            for index, entry in enumerate(support.entries)
        ]
        steps = tuple(sorted({entry.step for entry in support.entries} - {EARLIER_STEP}))
        is_new = self._state.inherited is not None and not support.is_old and not is_old(self._state, text)
        return Claim(text, tuple(dict.fromkeys(ids)), steps, support.confidence, support.quote, is_new)

    def _cite(self, entry: Entry, quote: str) -> str:
        key = entry.source.key
        known = self._cited.get(key)
        if known is None:
            source = entry.source
            name = f"S{len(self._cited) + 1}"
            known = Citation(
                name, source.title, source.url, quote, source.fetched_at, entry.step, entry.found_by
            )
            self._cited[key] = known
        elif quote and not known.quote:
            self._cited[key] = replace(known, quote=quote)
        return known.id


def _made(
    state: RunState,
    maker: _Maker,
    sections: Sequence[Section],
    dropped: Sequence[str],
    outcome: str,
    content: dict[str, Json],
) -> Made:
    language = language_of(state.input)
    words = WORDS[language]
    limits = [*texts_in(content, "limits")]
    if not sections and outcome == "full":
        outcome, limits = "partial", [words["nothing"], *limits]
    limits += [
        words["given_up"].format(id=item.subtask.id, text="; ".join(item.remarks))
        for item in state.plan
        if item.progress is Progress.DROPPED
    ]
    limits += [words["open"].format(text=text) for item in state.plan for text in item.open_questions]
    limits += [words["dropped"].format(text=text) for text in dropped]
    limits += [words["changed"].format(text=title) for title in changed_sources(state)]
    summary = text_in(content, "summary").strip() or _summary(sections, words)
    report = Report(
        title=text_in(content, "title").strip()
        or state.input.strip().splitlines()[0][:120]
        or words["title"],
        question=state.input,
        summary=summary,
        sections=tuple(sections),
        sources=maker.citations,
        limits=tuple(dict.fromkeys(limits)),
        outcome=outcome,
        language=language,
    )
    return Made(report, tuple(dropped))


def _summary(sections: Sequence[Section], words: dict[str, str]) -> str:
    best = [max(section.claims, key=lambda claim: claim.confidence).text for section in sections]
    return " ".join(best[:3]) if best else words["nothing"]


def _conclusions(state: RunState) -> dict[str, Conclusion]:
    return {one.id: one for item in state.plan for one in item.conclusions}


def _support(
    drafted: Json, conclusions: dict[str, Conclusion], state: RunState, ledger: Ledger
) -> Support | None:
    """What a drafted claim rests on: the conclusions it names, else the sources it names."""
    named = [conclusions[name] for name in texts_in(drafted, "conclusions") if name in conclusions]
    if named:
        return _of_conclusions(named, state, ledger)
    entries = [entry for name in texts_in(drafted, "sources") if (entry := ledger.entry(name)) is not None]
    return Support(tuple(entries), "", 0.5) if entries else None


def _of_conclusions(named: Sequence[Conclusion], state: RunState, ledger: Ledger) -> Support | None:
    supported = [one for one in named if one.is_supported]
    entries: dict[str, Entry] = {}
    for one in supported:
        for name in one.sources:
            entry = ledger.entry(name, one.id.partition(".")[0])
            if entry is not None:
                entries.setdefault(entry.source.key, entry)
    if not entries:
        return None
    return Support(
        tuple(entries.values()),
        supported[0].quote,
        round(min(one.confidence for one in supported), 2),
        all(is_old(state, one.claim) for one in supported),
    )


def _objects(value: Json) -> list[dict[str, Json]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
