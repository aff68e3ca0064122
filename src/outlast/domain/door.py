"""What may enter the journal, decided once, at the door.

Text and JSON come from models, tools, files and people. Whatever passes here is stored and read back equal; what cannot be is
replaced (and the repair is named, so that it can be journaled) or refused with a reason.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from outlast.domain.errors import ModelMistake

T = TypeVar("T")

JsonScalar = str | int | float | bool | None
Json = JsonScalar | list["Json"] | dict[str, "Json"]
"""A JSON value. Numbers are exact integers of at most MAX_INTEGER_DIGITS digits, or finite floats."""

MAX_DEPTH: Final = 100
"""How deep lists and objects may nest."""

MAX_INTEGER_DIGITS: Final = 300
"""How many digits an integer may have; longer ones are refused, never rounded."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER_BOUND: Final = 10**MAX_INTEGER_DIGITS


def clean_text(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD, so that it can be written as UTF-8. Valid text is returned as it is."""
    if text.isascii() or not _LONE_SURROGATE.search(text):
        return text
    return _LONE_SURROGATE.sub("\ufffd", text)


def in_words(error: BaseException) -> str:
    """An exception as clean text: its type and what it says. One of a user's own may not be able to say it; its type then does."""
    try:
        said = str(error)
    except (Exception, SystemExit) as another:  # noqa: BLE001 - whatever the message raises, the error it belongs to must be told
        said = f"(its message cannot be read: {type(another).__name__})"
    return clean_text(f"{type(error).__name__}: {said}" if said else type(error).__name__)


def parse_json(text: str) -> Json:
    """The value of a JSON document, parsed strictly.

    Raises ModelMistake (`invalid_json`) for anything that is not JSON: NaN and infinities, nesting deeper than MAX_DEPTH,
    integers of more than MAX_INTEGER_DIGITS digits, repeated keys, trailing text.
    """
    if _nesting(text) > MAX_DEPTH:
        raise ModelMistake(
            "invalid_json", f"The JSON nests deeper than {MAX_DEPTH} levels.", "Send a flatter value."
        )
    try:
        value: Json = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_int=_bounded_integer,
            parse_float=_finite,
            object_pairs_hook=_unique,
        )
    except ValueError as error:
        raise ModelMistake(
            "invalid_json", f"This is not valid JSON: {error}", "Send one valid JSON value."
        ) from error
    return value


def stored_form(value: object) -> Json:
    """`value` exactly as it will be read back from the journal.

    Accepts only what JSON can hold without loss: str, bool, None, int within MAX_INTEGER_DIGITS, finite float, list, and dict
    with str keys. Lone surrogates become U+FFFD. Raises ModelMistake (`not_storable`) that names the path of the first value
    that would come back different (a tuple, a set, bytes, a datetime, a NaN, a key that is no string, too deep nesting).
    """
    try:
        return _stored_quickly(value, 0)
    except _NotSure:
        return _stored(value, "$", 0)


def apart(value: T) -> T:
    """A JSON value that shares no list and no object with `value`: for whoever may change what they are handed."""
    copy: Any = value
    if type(copy) is dict:
        copy = {key: apart(item) for key, item in copy.items()}
    elif type(copy) is list:
        copy = [apart(item) for item in copy]
    result: T = copy
    return result


def json_writer(
    *, sorts_keys: bool = False, spaced: bool = False, escapes: bool = False
) -> Callable[[object], str]:
    """What spells JSON values: without spaces or `spaced`, UTF-8 characters as they are or with `escapes`, as `json.dumps` does.

    For trees: what holds itself raises RecursionError.

    The same as `JSONEncoder.encode`, which makes a C encoder anew for each value: half the price of a small one.
    """
    comma, colon = (", ", ": ") if spaced else (",", ":")
    usual = json.JSONEncoder(
        sort_keys=sorts_keys,
        separators=(comma, colon),
        ensure_ascii=escapes,
        allow_nan=False,
        check_circular=False,
    )
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return usual.encode
    spell = json.encoder.encode_basestring_ascii if escapes else json.encoder.encode_basestring
    pieces = make(None, usual.default, spell, None, colon, comma, sorts_keys, False, False)
    return lambda value: "".join(pieces(value, 0))


_canonical: Final = json_writer(sorts_keys=True)


def canonical_json(value: object) -> str:
    """The one spelling of a JSON value: sorted keys, no spaces, UTF-8 characters as they are."""
    return _canonical(value)


def digest_of(text: str) -> str:
    """The sha256 of `text` in UTF-8, as 64 lowercase hexadecimal characters."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def lot_of(text: str) -> float:
    """A number from 0 to below 1 that follows from `text` and looks drawn by chance; the same for equal texts."""
    return int(digest_of(text)[:8], 16) / 16**8


class _NotSure(Exception):
    """There is more to look at than the types that mostly come."""


def _stored_quickly(value: Any, depth: int) -> Json:
    """As `_stored`, without knowing where in the whole it is. Raises _NotSure where only that can tell, or refuse."""
    kind = type(value)
    if kind is str:
        return clean_text(value)
    if kind is dict and depth < MAX_DEPTH:
        return {_key_quickly(key): _stored_quickly(item, depth + 1) for key, item in value.items()}
    if kind is list and depth < MAX_DEPTH:
        return [_stored_quickly(item, depth + 1) for item in value]
    if value is None or kind is bool or (kind is int and -_INTEGER_BOUND < value < _INTEGER_BOUND):
        plain: JsonScalar = value
        return plain
    if kind is float and math.isfinite(value):
        return float(value)
    raise _NotSure


def _key_quickly(key: Any) -> str:
    if type(key) is not str:
        raise _NotSure
    return clean_text(key)


def _stored(value: object, path: str, depth: int) -> Json:
    if depth > MAX_DEPTH:
        raise _unstorable(path, f"it nests deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        return clean_text(value)
    if value is None or value is True or value is False:
        return value
    if type(value) is list:
        return [_stored(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {_key(key, path): _stored(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    return _stored_number(value, path)


def _stored_number(value: object, path: str) -> int | float:
    if type(value) is int:
        if abs(value) >= _INTEGER_BOUND:
            raise _unstorable(path, f"it is an integer of more than {MAX_INTEGER_DIGITS} digits")
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise _unstorable(path, "it is not a finite number")
        return value
    raise _unstorable(path, f"a {type(value).__name__} does not come back from JSON as it went in")


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise _unstorable(path, f"its key {key!r} is not a string")
    return clean_text(key)


def _unstorable(path: str, reason: str) -> ModelMistake:
    return ModelMistake(
        "not_storable", f"The value at {path} cannot be stored: {reason}.", "Use plain JSON values."
    )


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")


def _bounded_integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits is too long")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]} does not fit a number")
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("an object names a key twice")
    return {
        clean_text(key): clean_text(item) if isinstance(item, str) else item for key, item in value.items()
    }


def _nesting(text: str) -> int:
    """An upper bound of how deep the brackets of `text` nest; brackets inside strings do not count."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return 0
    depth = deepest = 0
    for token in _BRACKETS.finditer(text):
        mark = token.group()
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


# A string may end with the text instead of a quote: so no match ever fails after a long scan, and the time stays linear.
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
