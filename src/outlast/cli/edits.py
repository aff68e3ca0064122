"""Arguments a person puts in the place of the model's."""

from __future__ import annotations

import importlib
from typing import Any, Final

from outlast.domain.door import parse_json, stored_form
from outlast.domain.errors import CallerMistake, ModelMistake
from outlast.service.signals import Check

_ENGINE: Final = "outlast.wiring.engine"


def edit_in(text: str) -> dict[str, Any]:
    """The arguments in a JSON object. Raises CallerMistake (`bad_edit`)."""
    hint = 'Give the arguments as one JSON object, such as {"query": "tides"}.'
    return object_in(text, "The edit", "bad_edit", hint)


def object_in(text: str, named: str, code: str, hint: str) -> dict[str, Any]:
    """The JSON object in what a person wrote, as it will be stored. Raises CallerMistake (`code`), which tells `hint`."""
    try:
        value = stored_form(parse_json(text))
    except ModelMistake as mistake:
        raise CallerMistake(code, f"{named} is not JSON: {mistake.detail}", hint) from mistake
    if not isinstance(value, dict):
        raise CallerMistake(code, f"{named} is JSON, but no object.", hint)
    return value


def check_for(config: str | None) -> Check:
    """What tells whether arguments fit a tool of a configuration. Only an approval with an edit pays for the engine."""
    check: Check = importlib.import_module(_ENGINE).Engine.from_config(config).builder.problems_with_call
    return check
