"""How a wrong value is told, without quoting it."""

from __future__ import annotations

import re
from typing import Final

from outlast.domain.door import Json
from outlast.wiring.settings.problem import listed, nearest
from outlast.wiring.settings.spec import Spec

MASKED: Final = (
    "*** is a mask, not a value; write the value or a reference such as ${NAME}, or leave the key out"
)
"""That a masked document was sent back."""

_KINDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number"}
_FOUND: dict[type, str] = {str: "text", int: "a number", float: "a number", list: "a list", dict: "a mapping"}


def kind_of(item: Json) -> str:
    """What kind of value this is."""
    if item is None:
        return "nothing"
    return "true or false" if isinstance(item, bool) else _FOUND[type(item)]


def not_text(item: Json) -> str:
    """That text was expected."""
    hint = "" if isinstance(item, dict | list) or item is None else "; put the value in quotes"
    return f"expected text, got {kind_of(item)}{hint}"


def wrong_kind(kind: type, item: Json) -> str:
    """That a value of another kind was expected."""
    if isinstance(item, float) and kind is int:
        return "expected a whole number, got a fraction"
    hint = "; take the quotes away if it is one" if isinstance(item, str) else ""
    return f"expected {_KINDS[kind]}, got {kind_of(item)}{hint}"


def not_a_choice(options: tuple[str, ...], item: Json) -> str:
    """That a value is none of the options, and which it was probably meant to be."""
    near = nearest(item, options) if isinstance(item, str) else None
    return f"it must be one of {listed(options)}" + (f"; did you mean {near}?" if near else "")


def bounds_broken(spec: Spec, value: float) -> str | None:
    """That a number is outside the bounds of its setting; None: it is within."""
    low, high = spec.at_least, spec.at_most
    if isinstance(value, bool) or ((low is None or value >= low) and (high is None or value <= high)):
        return None
    bounds = [f"at least {low:g}"] if low is not None else []
    bounds += [f"at most {high:g}"] if high is not None else []
    return f"it must be {' and '.join(bounds)}{f' ({spec.unit})' if spec.unit else ''}"


def plain_value(text: str) -> Json:
    """The number or truth value that a variable holds, or else its text."""
    if text in {"true", "false"}:
        return text == "true"
    if re.fullmatch(r"[-+]?\d{1,18}", text):
        return int(text)
    if re.fullmatch(r"[-+]?(\d{1,18}(\.\d{0,18})?|\.\d{1,18})", text):
        return float(text)
    return text
