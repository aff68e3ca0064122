"""Reviews: is there a statement with a source, or at least an honest gap?"""

from __future__ import annotations

import re

from outlast.adapters.providers.offline.asked import Asked
from outlast.adapters.providers.offline.evidence import payloads_of
from outlast.adapters.providers.offline.explore import queries_for
from outlast.adapters.providers.offline.facets import GAPS, facets_of
from outlast.adapters.providers.offline.json_texts import objects_in, parse_loosely, text_field
from outlast.domain.door import Json
from outlast.ports.provider import ModelRequest

_CUT_CLAIMS = re.compile(r'"(?:claim|text)"\s*:\s*"[^"]+"[^{}]*"(?:sources|conclusions)"\s*:\s*\[\s*"')
"""A statement with its source, in JSON that was cut and cannot be parsed as a whole."""


def review_of(request: ModelRequest, asked: Asked) -> dict[str, Json]:
    """`{"verdict": "accept|revise", "reasons": [...]}` for the conclusions of one subtask. Revises at most once."""
    phrases = asked.phrases
    claims = [entry for entry in _objects_shown(request) if text_field(entry, "claim")]
    backed = [entry for entry in claims if entry.get("sources")]
    if not claims and _CUT_CLAIMS.search("\n".join(_payloads(request))):
        return _verdict("accept", phrases.accept_cut)
    if backed:
        return _verdict("accept", phrases.accept.format(count=len(backed), total=len(claims)))
    if GAPS in facets_of(asked.sub_question):
        return _verdict("accept", phrases.accept_no_gaps)
    if asked.number("ROUND", 1) > 1:
        return _verdict("accept", phrases.accept_empty)
    words = ", ".join(dict.fromkeys(" ".join(queries_for(asked)[1:4]).split())) or asked.sub_question
    return _verdict(
        "revise",
        phrases.revise.format(question=asked.sub_question),
        phrases.revise_search.format(words=words),
    )


def final_review_of(request: ModelRequest, asked: Asked) -> dict[str, Json]:
    """The verdict on the report: accepted when it has a claim or says that nothing was found."""
    shown = _objects_shown(request)
    if any(isinstance(entry.get("claims"), list) and entry["claims"] for entry in shown):
        return _verdict("accept", asked.phrases.report_ok)
    if not shown and _CUT_CLAIMS.search("\n".join(_payloads(request))):
        return _verdict("accept", asked.phrases.report_ok)
    if any(text_field(entry, "summary") or entry.get("limits") for entry in shown):
        return _verdict("accept", asked.phrases.report_empty)
    if asked.number("ROUND", 1) > 1:
        return _verdict("accept", asked.phrases.report_bare)
    return _verdict("revise", asked.phrases.report_bare)


def _verdict(verdict: str, *reasons: str) -> dict[str, Json]:
    return {"verdict": verdict, "reasons": list(reasons)}


def _payloads(request: ModelRequest) -> list[str]:
    newest = next((message for message in reversed(request.messages) if message.speaker == "user"), None)
    return payloads_of(newest) if newest is not None else []


def _objects_shown(request: ModelRequest) -> list[dict[str, object]]:
    """Every JSON object in the fenced texts of the newest user message."""
    return [entry for payload in _payloads(request) for entry in objects_in(parse_loosely(payload))]
