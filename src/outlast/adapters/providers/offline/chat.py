"""Talk, summaries and notices: sentences quoted from what is there, and where they are from."""

from __future__ import annotations

import json
from collections import Counter
from typing import Final

from outlast.adapters.providers.offline.asked import Asked
from outlast.adapters.providers.offline.evidence import Evidence, evidence_of, payloads_of
from outlast.adapters.providers.offline.explore import next_calls
from outlast.adapters.providers.offline.json_texts import objects_in, parse_loosely, text_field
from outlast.adapters.providers.offline.pages import Page
from outlast.adapters.providers.offline.ranking import Candidate, Question, candidates_of, ranked, spread
from outlast.adapters.providers.offline.reading import read_message
from outlast.adapters.providers.offline.reply import Reply
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelRequest

_ANSWER_SENTENCES: Final = 4
_NOTICE_SENTENCES: Final = 2
_MEMORY: Final = "memory"
"""The origin of what memory brought back: a heading, then entries, each a line about it and its text."""

_DEFAULT_POINTS: Final = 5
_MOST_POINTS: Final = 50
_MOST_CENTRAL: Final = 1_500


def chat_reply(request: ModelRequest, asked: Asked) -> Reply:
    """Calls while there is something to look up, then quoted sentences with their places, or what this model can do."""
    ordered = _ordered_call(request, asked)
    evidence = evidence_of(request.messages)
    if ordered is not None and not evidence.turns:
        return Reply(calls=(ordered,))
    calls = () if ordered is not None else next_calls(request, asked, evidence)
    return Reply(calls=calls) if calls else Reply(_answer(request, asked, evidence))


def summary_of(request: ModelRequest, asked: Asked) -> str:
    """The most central sentences of the fenced text, as points in their order; all it can do is choose."""
    limit = max(1, min(_MOST_POINTS, asked.number("MAX POINTS", _DEFAULT_POINTS)))
    texts = _materials(request) or [asked.question]
    points = central(texts, limit)
    return "\n".join(f"- {point}" for point in points) or asked.phrases.chat_nothing


def notice_of(request: ModelRequest, asked: Asked) -> str:
    """What is reported: names and states as they stand, then the most central sentences."""
    lines: list[str] = []
    texts: list[str] = []
    for material in _materials(request):
        value = parse_loosely(material)
        if value is None:
            texts.append(material)
        for entry in objects_in(value):
            if text_field(entry, "name") and text_field(entry, "status"):
                lines.append(asked.phrases.notify.format(name=entry["name"], status=entry["status"]))
            texts.extend(text for text in entry.values() if isinstance(text, str) and len(text) > 20)
    lines += central(texts, _NOTICE_SENTENCES)
    return "\n".join(dict.fromkeys(lines)) or asked.phrases.chat_about


def _ordered_call(request: ModelRequest, asked: Asked) -> ToolCall | None:
    """A call the person wrote out: the name of an offered tool, then its arguments as a JSON object or nothing."""
    name, _, arguments = "\n".join(asked.said.trusted).strip().removeprefix("/").partition(" ")
    if name not in {tool.name for tool in request.tools}:
        return None
    value = parse_loosely(arguments) if arguments.strip() else {}
    return ToolCall("", name, value) if isinstance(value, dict) else None


def _answer(request: ModelRequest, asked: Asked, evidence: Evidence) -> str:
    pages = evidence.citable
    question = Question.of(asked.question)
    chosen = spread(ranked(question, candidates_of(pages)), _ANSWER_SENTENCES)
    if chosen:
        lines = [f"- {one.candidate.sentence.claim} ({_place(one.candidate.page)})" for one in chosen]
        return "\n".join([asked.phrases.chat_found, "", *lines])
    results = [] if pages else _results_since(request)
    if results:
        return "\n".join(results)
    earlier = candidates_of([*_earlier(request), *_remembered(request)])
    said = [
        f"- {one.candidate.sentence.claim}" for one in spread(ranked(question, earlier), _ANSWER_SENTENCES)
    ]
    if said:
        return "\n".join([asked.phrases.chat_found, "", *said])
    return asked.phrases.chat_nothing if evidence.queries else asked.phrases.chat_about


def _place(page: Page) -> str:
    return f"{page.title}, {page.url}" if page.title and page.title != page.url else page.url or page.source


def _results_since(request: ModelRequest) -> list[str]:
    """What the tools called since the person spoke gave back, in short."""
    last = max((at for at, message in enumerate(request.messages) if message.speaker == "user"), default=0)
    shown: list[str] = []
    for message in request.messages[last:]:
        if message.speaker == "tool" and message.tool_name not in ("web_search", "web_fetch"):
            texts = [payload.strip() for payload in payloads_of(message)]
            shown += [f"{message.tool_name}: {text[:600]}" for text in texts if text]
    return shown


def _earlier(request: ModelRequest) -> list[Page]:
    """The conversation before the newest message, as texts to quote from."""
    last = max((at for at, message in enumerate(request.messages) if message.speaker == "user"), default=0)
    before = request.messages[:last]
    return [
        Page(f"m{at}", "", "", "\n".join([*read_message(message.text).trusted, *payloads_of(message)]))
        for at, message in enumerate(before)
        if message.speaker != "system"
    ]


def _remembered(request: ModelRequest) -> list[Page]:
    """What memory brought back for the newest message and still holds, as texts to quote from."""
    newest = next(message for message in reversed(request.messages) if message.speaker == "user")
    recalled = [part.text for part in read_message(newest.text).fenced if part.origin == _MEMORY]
    entries = [entry.partition("\n") for text in recalled for entry in text.split("\n\n")[1:]]
    return [
        Page(f"k{at}", "", "", text)
        for at, (about, _, text) in enumerate(entries)
        if "[outdated " not in about
    ]


def _materials(request: ModelRequest) -> list[str]:
    """The fenced texts of the newest message that has any."""
    for message in reversed(request.messages):
        payloads = [payload for payload in payloads_of(message) if payload.strip()]
        if payloads:
            return payloads
    return []


def central(texts: list[str], limit: int) -> list[str]:
    """The sentences that share most with the rest of the texts, in the order they stand in."""
    pages = [Page(f"t{at}", "", "", _plain(text)) for at, text in enumerate(texts)]
    candidates = candidates_of(pages)[:_MOST_CENTRAL]
    held = Counter(term for candidate in candidates for term in candidate.terms)
    order = sorted(range(len(candidates)), key=lambda at: -_centrality(candidates[at], held))
    chosen: list[int] = []
    for at in order:
        if len(chosen) < limit and not any(
            candidates[at].terms <= candidates[other].terms for other in chosen
        ):
            chosen.append(at)
    return [candidates[at].sentence.claim for at in sorted(chosen)]


def _centrality(candidate: Candidate, held: Counter[str]) -> float:
    shared = sum(held[term] - 1 for term in candidate.terms)
    return (shared + 0.1) / (len(candidate.terms) + 6) * (1.15 - 0.3 * candidate.sentence.place)


def _plain(text: str) -> str:
    """Text handed over inside JSON is read as the texts it holds."""
    value = parse_loosely(text)
    if isinstance(value, str):
        return value
    texts = [item for entry in objects_in(value) for item in entry.values() if isinstance(item, str)]
    return "\n\n".join(texts) if texts else text if value is None else json.dumps(value, ensure_ascii=False)
