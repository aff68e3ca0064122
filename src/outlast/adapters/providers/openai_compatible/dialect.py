"""What one model at one endpoint understands: learned from its refusals, each of which may change exactly
what it names."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, Literal

from outlast.adapters.providers.openai_compatible.refusal import Refusal
from outlast.domain.dataclass import dataclass

_UNKNOWN: Final = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|extra (?:inputs|fields)|not (?:permitted|allowed)"
    r"|deprecated|only the default",
    re.IGNORECASE,
)
_WANTED: Final = re.compile(r"must be|pass(?:ed)? back|missing|required", re.IGNORECASE)
_SCHEMA: Final = re.compile(r"response_format|json_schema|json_object|grammar", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to speak to a model: which optional parts of a request it takes, and under which name."""

    structured: Literal["json_schema", "json_object", "none"] = "json_schema"
    states_usage: bool = True
    limit_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    takes_temperature: bool = True
    takes_reasoning: bool = False


def adapted(dialect: Dialect, refusal: Refusal) -> Dialect | None:
    """The dialect without what `refusal` names, or None if it names nothing optional. Tools and messages are
    never dropped."""
    if refusal.status not in (400, 422, 500, 501):
        return None
    said = f"{refusal.param} {refusal.code} {refusal.message}"
    if "reasoning_content" in said:
        return _with_reasoning(dialect, said)
    if _SCHEMA.search(said):
        return _with_less_structure(dialect)
    if "max_completion_tokens" in said and dialect.limit_name == "max_tokens":
        return replace(dialect, limit_name="max_completion_tokens")
    if not _UNKNOWN.search(said):
        return None
    if re.search("stream_options|include_usage", said) and dialect.states_usage:
        return replace(dialect, states_usage=False)
    if "temperature" in said and dialect.takes_temperature:
        return replace(dialect, takes_temperature=False)
    return None


def _with_reasoning(dialect: Dialect, said: str) -> Dialect | None:
    if dialect.takes_reasoning:
        return replace(dialect, takes_reasoning=False) if _UNKNOWN.search(said) else None
    return replace(dialect, takes_reasoning=True) if _WANTED.search(said) else None


def _with_less_structure(dialect: Dialect) -> Dialect | None:
    if dialect.structured == "none":
        return None
    return replace(dialect, structured="json_object" if dialect.structured == "json_schema" else "none")
