"""The one JSON value in a model's answer: read strictly first, then found, then repaired; never guessed in silence.

In this order, the first that gives a value which fits wins: the whole text, blocks labelled `json`, balanced spans in the text,
heuristics over what is broken. Two different values that fit are an ambiguity, not a choice. Reasoning is never read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, canonical_json, parse_json
from outlast.domain.errors import ModelMistake

Validate = Callable[[Json], Sequence[str]]
"""What is wrong with a value, a line a problem; empty when it fits."""

Repair = Callable[[str], Json]
"""The value a broken text was meant to be; raises ValueError when it cannot tell."""

_MOST_PROBLEMS: Final = 5
_MOST_PROBLEM_CHARACTERS: Final = 300
_MOST_SPANS: Final = 100
_MOST_UNCLOSED: Final = 5
_NEXT_STEP: Final = "Answer with exactly one JSON value that fits the schema, and nothing else."

_REASONING_TAG: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_JSON_BLOCK: Final = re.compile(r"```[ \t]*json[c5]?\b(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_MARK: Final = re.compile(r'\\.|["\[\]{}]', re.DOTALL)
_MEANT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Structured:
    """A value that fits. `repaired` says that the answer as a whole was not it; `note` says what was done."""

    value: Json
    repaired: bool = False
    note: str = ""


def read_structured(
    text: str, schema: Mapping[str, Json], *, validate: Validate, repair: Repair | None = None
) -> Structured:
    """The one value in `text` that fits `schema`, as `validate` judges it.

    Give no `repair` for an answer that was cut for length: what is missing cannot be told from what was never there. Raises
    ModelMistake (`invalid_answer` or `ambiguous_answer`) that tells the model what is wrong and what to send.
    """
    reading = _Reading(schema, validate)
    answer = without_reasoning(text).strip()
    for value in reading.parsed(dict.fromkeys((text.strip(), answer))):
        return reading.judged(value)
    blocks = [block.strip() for block in _JSON_BLOCK.findall(answer)]
    spans = list(_spans(answer, _openers(schema)))
    found = reading.one_of(reading.parsed(blocks), "Taken from a block of JSON") or reading.one_of(
        reading.parsed(spans), "Taken from the text around it"
    )
    if found is None and repair:
        broken = _broken(blocks[0] if len(blocks) == 1 else answer, _openers(schema))
        found = reading.one_of(_repaired(broken, repair), "Broken JSON was repaired")
    if found is None:
        raise reading.mistake()
    return found


def without_reasoning(text: str) -> str:
    """`text` without what a model thought before it answered.

    Closed blocks go, everything before an end that stands alone, and everything after a start that stands alone.
    """
    kept: list[str] = []
    at, thinks = 0, False
    for tag in _REASONING_TAG.finditer(text):
        is_end = bool(tag.group(1))
        if is_end and not thinks:
            kept.clear()
        elif not thinks:
            kept.append(text[at : tag.start()])
        at, thinks = tag.end(), not is_end
    return "".join(kept) + ("" if thinks else text[at:])


class _Reading:
    """The judgement of candidates, and what was found wrong with the last one."""

    def __init__(self, schema: Mapping[str, Json], validate: Validate) -> None:
        self._schema = schema
        self._validate = validate
        self._problems: Sequence[str] = ()

    def parsed(self, texts: Iterable[str]) -> Iterator[Json]:
        """The values of those texts that are JSON."""
        for text in texts:
            try:
                value = parse_json(text)
            except ModelMistake as mistake:
                self._problems = self._problems or (mistake.detail,)
                continue
            yield value

    def judged(self, value: Json) -> Structured:
        """`value`, the whole answer, if it fits; an answer that is plain JSON leaves nothing to search."""
        fitting = self._fitting(value)
        if fitting is None:
            raise self.mistake()
        return fitting

    def one_of(self, values: Iterator[Json], note: str) -> Structured | None:
        """The one that fits, None if none does. Raises ModelMistake if different ones do."""
        found = [fitting for value in values if (fitting := self._fitting(value))]
        different = len({canonical_json(fitting.value) for fitting in found})
        if different > 1:
            detail = f"The answer holds {different} different values that fit."
            raise ModelMistake("ambiguous_answer", detail, _NEXT_STEP)
        return Structured(found[0].value, True, f"{note}. {found[0].note}".strip()) if found else None

    def mistake(self) -> ModelMistake:
        """What to tell the model."""
        told = "; ".join(problem[:_MOST_PROBLEM_CHARACTERS] for problem in self._problems[:_MOST_PROBLEMS])
        more = len(self._problems) - _MOST_PROBLEMS
        detail = f"The answer is not the JSON that was asked for: {told}" + (
            f" (and {more} more)" if more > 0 else ""
        )
        return ModelMistake("invalid_answer", detail, _NEXT_STEP)

    def _fitting(self, value: Json) -> Structured | None:
        problems = self._validate(value)
        if not problems:
            return Structured(value)
        decoded = _decoded(value, self._schema, self._schema)
        if decoded != value and not self._validate(decoded):
            return Structured(decoded, True, "JSON inside strings was decoded where the schema wants it.")
        self._problems = problems
        return None


def _spans(text: str, openers: str) -> Iterator[str]:
    """The outermost balanced spans, each from one of `openers` to what closes it, as far as the bounds go."""
    starts = re.compile(f"[{re.escape(openers)}]")
    at = spans = unclosed = 0
    while spans < _MOST_SPANS and unclosed < _MOST_UNCLOSED and (start := starts.search(text, at)):
        end = _closing(text, start.start())
        if end is None:
            unclosed += 1
            at = start.end()
        else:
            spans += 1
            at = end
            yield text[start.start() : end]


def _closing(text: str, start: int) -> int | None:
    """Where the bracket at `start` is closed; brackets inside strings do not count. None if it never is."""
    depth, in_string = 0, False
    for mark in _MARK.finditer(text, start):
        sign = mark.group()
        if sign == '"':
            in_string = not in_string
        elif not in_string and len(sign) == 1:
            depth += 1 if sign in "[{" else -1
            if depth == 0:
                return mark.end()
    return None


def _openers(schema: Mapping[str, Json]) -> str:
    return {"object": "{", "array": "["}.get(str(schema.get("type")), "{[")


def _broken(text: str, openers: str) -> Sequence[str]:
    """What may be repaired: the balanced spans, or without any all from the first opening bracket on."""
    first = re.search(f"[{re.escape(openers)}]", text)
    return list(_spans(text, openers)) or ([text[first.start() :]] if first else [])


def _repaired(texts: Sequence[str], repair: Repair) -> Iterator[Json]:
    """What `repair` makes of `texts`, unless it invented or lost a letter or digit, or changed a string."""
    for text in texts:
        try:
            value = repair(text)
        except ValueError:
            continue
        if _letters(json.dumps(value, ensure_ascii=False)) != _letters(text):
            continue
        unescaped = _unescaped(text)
        if all(_stands(string, text, unescaped) for string in _strings(value)):
            yield value


def _strings(value: Json) -> Iterator[str]:
    """Every string in a value, keys included, that is more than one word."""
    if isinstance(value, str):
        if not value.isidentifier():
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(key)
            yield from _strings(item)


def _stands(string: str, text: str, unescaped: str) -> bool:
    """Does a text hold a string between quotes, as it is or escaped?"""
    quoted = [f"{quote}{string}{quote}" for quote in "\"'`"]
    return any(one in text or one in unescaped for one in quoted) or f"\u201c{string}\u201d" in text


def _unescaped(text: str) -> str:
    """A text with its escapes as the characters they mean."""
    plain = _ESCAPE.sub(
        lambda found: chr(int(found[1], 16)) if found[1] else _MEANT.get(found[0][1], found[0][1]), text
    )
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _letters(text: str) -> str:
    """The letters and digits of a text of JSON, or of Python's likeness of it, in their order."""
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)) if escape[1] else "", text)
    return "".join(filter(str.isalnum, plain)).lower().replace("none", "null")


def _decoded(value: Json, schema: object, root: Mapping[str, Json]) -> Json:
    """`value` with strings that hold JSON decoded where the schema wants an array or object and they hold exactly that."""
    wanted = _resolved(schema, root)
    if isinstance(value, str):
        return _inside(value, str(wanted.get("type")))
    if isinstance(value, list):
        return [_decoded(item, wanted.get("items"), root) for item in value]
    if isinstance(value, dict):
        fields = wanted.get("properties")
        fields = fields if isinstance(fields, dict) else {}
        return {key: _decoded(item, fields.get(key), root) for key, item in value.items()}
    return value


def _inside(text: str, wanted: str) -> Json:
    kind: type = {"array": list, "object": dict}.get(wanted, str)
    if kind is str:
        return text
    try:
        value = parse_json(text)
    except ModelMistake:
        return text
    return value if isinstance(value, kind) else text


def _resolved(schema: object, root: Mapping[str, Json]) -> Mapping[str, Json]:
    """The schema itself, or what a `$ref` into the same document (`#/$defs/name`) leads to."""
    found = schema
    reference = schema.get("$ref") if isinstance(schema, Mapping) else None
    if isinstance(reference, str):
        found = root
        for part in reference.removeprefix("#/").split("/"):
            found = found.get(part) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}
