"""Arguments a person puts in the place of the model's."""

from __future__ import annotations

import importlib
import json
from typing import Any, Final

from outlast.domain.errors import CallerMistake
from outlast.service.signals import Check

_ENGINE: Final = "outlast.wiring.engine"


def edit_in(text: str) -> dict[str, Any]:
    """The arguments in a JSON object. Raises CallerMistake (`bad_edit`)."""
    hint = 'Give the arguments as one JSON object, such as {"query": "tides"}.'
    try:
        value = json.loads(text)
    except ValueError as error:
        raise CallerMistake("bad_edit", f"The edit is not JSON: {error}.", hint) from error
    if not isinstance(value, dict):
        raise CallerMistake("bad_edit", "The edit is JSON, but no object.", hint)
    return value


def check_for(config: str | None) -> Check:
    """What tells whether arguments fit a tool of a configuration. Only an approval with an edit pays for the engine."""
    check: Check = importlib.import_module(_ENGINE).Engine.from_config(config).builder.problems_with_call
    return check
