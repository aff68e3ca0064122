"""What to look at next: searches, then the best pages they found, then no more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from outlast.adapters.providers.offline.asked import Asked
from outlast.adapters.providers.offline.conclude import has_answer
from outlast.adapters.providers.offline.evidence import Evidence, Finding, Hit
from outlast.adapters.providers.offline.facets import FIGURES, GAPS, facets_of
from outlast.adapters.providers.offline.phrases import CHINESE, ENGLISH
from outlast.adapters.providers.offline.reply import call
from outlast.adapters.providers.offline.words import keywords_of, terms_of
from outlast.domain.door import Json
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import ModelRequest, ToolSchema

SEARCH: Final = "web_search"
FETCH: Final = "web_fetch"
_SEARCHES_AT_ONCE: Final = 2
_MOST_CHECKED: Final = 3
_LONGEST_WORD: Final = 24
_HITS: Final = 6
_PAGES_AT_ONCE: Final = 3
_MOST_SEARCH_TURNS: Final = 2
_MOST_FETCH_TURNS: Final = 3
_SET_PHRASES: Final = frozenset(
    terms_of(
        " ".join(
            text for spoken in (ENGLISH, CHINESE) for text in (spoken.revise, spoken.revise_search)
        ).format(question="", words="")
    )
)
_ADDRESS = re.compile(r"\bhttps?://[^\s<>\"'()，。、]+[^\s<>\"'()，。、.,;:!?]")


def next_calls(request: ModelRequest, asked: Asked, evidence: Evidence) -> tuple[ToolCall, ...]:
    """The calls to make now; none when it is time to answer.

    Only `web_search` and `web_fetch` are used, only if they are offered and no rule has ended the calls.
    """
    if not asked.may_call_tools:
        return ()
    tools = {tool.name: tool for tool in request.tools}
    search, fetch = tools.get(SEARCH), tools.get(FETCH)
    if not evidence.turns:
        return _first_calls(asked, evidence, search, fetch)
    search_turns = sum(turn.uses(SEARCH) for turn in evidence.turns)
    fetch_turns = sum(turn.uses(FETCH) for turn in evidence.turns)
    is_new = evidence.turns[-1].uses(SEARCH) or not evidence.pages
    is_open = is_new and fetch_turns < _MOST_FETCH_TURNS
    if fetch is not None and evidence.unread and is_open:
        return _fetches(fetch, _best(asked, evidence, _PAGES_AT_ONCE))
    if fetch is not None and fetch_turns < _MOST_FETCH_TURNS and not has_answer(asked, evidence):
        further = _further_parts(fetch, evidence)
        if further:
            return further
    if search is not None and not evidence.hits and search_turns < _MOST_SEARCH_TURNS:
        return _searches(search, asked, evidence, 1)
    return ()


def _first_calls(
    asked: Asked, evidence: Evidence, search: ToolSchema | None, fetch: ToolSchema | None
) -> tuple[ToolCall, ...]:
    """A new round: two searches at first; later one with other words, and what was found but not yet read."""
    calls: tuple[ToolCall, ...] = ()
    is_first = not evidence.queries and not evidence.asked_urls
    if search is not None:
        calls += _searches(search, asked, evidence, _first_count(asked, evidence) if is_first else 1)
    if fetch is not None:
        named = [
            url
            for url in _ADDRESS.findall(f"{asked.question} {asked.sub_question}")
            if url not in evidence.asked_urls
        ]
        unread = [hit.url for hit in _best(asked, evidence, 2)]
        calls += tuple(
            call(FETCH, url=url) for url in list(dict.fromkeys([*named, *unread]))[:_PAGES_AT_ONCE]
        )
    return calls


def _first_count(asked: Asked, evidence: Evidence) -> int:
    return max(_SEARCHES_AT_ONCE, len(_to_be_checked(asked, evidence.findings)))


def _searches(tool: ToolSchema, asked: Asked, evidence: Evidence, count: int) -> tuple[ToolCall, ...]:
    made = {_key(query) for query in evidence.queries}
    calls: list[ToolCall] = []
    for query in queries_for(asked, evidence.findings):
        if len(calls) < count and _key(query) not in made:
            made.add(_key(query))
            has_limit = "limit" in _properties(tool)
            calls.append(call(SEARCH, query=query, limit=_HITS) if has_limit else call(SEARCH, query=query))
    return tuple(calls)


def queries_for(asked: Asked, findings: Sequence[Finding] = ()) -> list[str]:
    """Queries for the sub-question, the most promising first. With remarks of a review, their words come first.

    Who looks for contradictions searches for the strongest findings again, to see what else is said about them.
    """
    overall = frozenset(terms_of(asked.question))
    own = keywords_of(asked.sub_question, 24)
    shared = [word for word in own if overall & frozenset(terms_of(word))]
    distinct = [word for word in own if word not in shared]
    remarks = [
        word for word in keywords_of(asked.remarks, 24) if word not in own and not _is_set_phrase(word)
    ]
    question = keywords_of(asked.question, 8)
    by_length = sorted(own, key=len, reverse=True)
    variants = [
        [*remarks[:4], *shared[:3]] if remarks else [],
        *(_subject_of(finding) for finding in _to_be_checked(asked, findings)),
        [*shared[:6], *distinct[: 2 if shared else 6]],
        [*question[:6], *distinct[:2]],
        question[:4],
        own[:3],
        by_length[:2],
        by_length[:1],
    ]
    queries = [" ".join(dict.fromkeys(words)) for words in variants if words]
    return list(dict.fromkeys(queries)) or [asked.sub_question[:200] or "?"]


def _is_set_phrase(word: str) -> bool:
    """Is this a word of what the offline reviewer always says? It stands for nothing that could be looked for."""
    return frozenset(terms_of(word)) <= _SET_PHRASES


def _to_be_checked(asked: Asked, findings: Sequence[Finding]) -> list[Finding]:
    if GAPS not in facets_of(asked.sub_question):
        return []
    stated = [finding for finding in findings if FIGURES.answered.search(finding.claim)]
    return sorted(stated, key=lambda finding: -finding.confidence)[:_MOST_CHECKED]


def _subject_of(finding: Finding) -> list[str]:
    """What the finding is about, without what it says: its numbers, and long runs without a space."""
    return [word for word in keywords_of(finding.claim, 12) if word.isalpha() and len(word) <= _LONGEST_WORD][
        :7
    ]


def _best(asked: Asked, evidence: Evidence, limit: int) -> list[Hit]:
    """The unread hits whose title and passage share most with the question; ties as the search ranked them.

    What other subtasks have already quoted comes last: their findings are known.
    """
    wanted = frozenset(terms_of(f"{asked.sub_question} {asked.question}"))
    known = {key for finding in evidence.findings for key in finding.sources}

    def order(hit: Hit) -> tuple[bool, int]:
        shared = wanted & frozenset(terms_of(f"{hit.title} {hit.snippet}"[:2_000]))
        return hit.source in known, -len(shared)

    return sorted(evidence.unread, key=order)[:limit]


def _fetches(tool: ToolSchema, hits: list[Hit]) -> tuple[ToolCall, ...]:
    return tuple(call(tool.name, url=hit.url) for hit in hits)


def _further_parts(tool: ToolSchema, evidence: Evidence) -> tuple[ToolCall, ...]:
    """The next parts of long pages of which only a part was read."""
    if "offset" not in _properties(tool):
        return ()
    parts = [(page.url, page.next_offset) for page in evidence.pages if page.next_offset is not None]
    return tuple(call(tool.name, url=url, offset=offset) for url, offset in parts[:_PAGES_AT_ONCE])


def _properties(tool: ToolSchema) -> dict[str, Json]:
    properties = tool.input_schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _key(query: str) -> frozenset[str]:
    return frozenset(terms_of(query)) or frozenset({query})
