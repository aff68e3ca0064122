"""Broken JSON put right by heuristics. What it guesses must be checked by the caller: it may invent and it may lose."""

from __future__ import annotations

from typing import Final

from outlast.domain.door import Json, stored_form
from outlast.domain.errors import ModelMistake

MAX_REPAIRED_CHARACTERS: Final = 100_000


def repair_json(text: str) -> Json:
    """The object or list that `text` was probably meant to be.

    Raises ValueError when `text` is longer than MAX_REPAIRED_CHARACTERS, holds neither, holds several, or nests too deep.
    """
    import json_repair

    if len(text) > MAX_REPAIRED_CHARACTERS:
        raise ValueError(f"more than {MAX_REPAIRED_CHARACTERS} characters are not repaired")
    try:
        value = stored_form(
            json_repair.repair_json(text, return_objects=True, skip_json_loads=True, strict=True)
        )
    except (RecursionError, ModelMistake) as error:
        raise ValueError("it nests too deep or holds what JSON cannot") from error
    if not isinstance(value, dict | list):
        raise ValueError("it holds no object and no list")
    return value
