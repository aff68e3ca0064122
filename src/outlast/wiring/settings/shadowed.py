"""The settings of a shadow: what its steps choose, and a configuration with its variant laid over."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, cast

from outlast.domain.door import Json
from outlast.domain.errors import CallerMistake
from outlast.domain.shadow import FORMS, selector_in
from outlast.wiring.settings.document import Document
from outlast.wiring.settings.models import prompt_text
from outlast.wiring.settings.problem import Problem
from outlast.wiring.settings.spec import SettingField, empty, fields_of, item_type, without_none
from outlast.wiring.settings.text import Secret
from outlast.wiring.settings.tree import Settings

_ADDRESSES: Final = frozenset({"provider", "base_url", "url"})
"""Keys that say who is asked: a key of one address is not sent to another."""


def shadow_key(document: Document) -> str:
    """How a document spells `shadow`."""
    given = document.value if isinstance(document.value, dict) else {}
    return "shadow_mode" if "shadow_mode" in given else "shadow"


def unclear_steps(settings: Settings, document: Document) -> Iterator[Problem]:
    """Steps that are written in no form there is."""
    key = shadow_key(document)
    for index, step in enumerate(settings.shadow.steps if settings.shadow is not None else ()):
        if selector_in(step) is None:
            place = document.place((key, "steps", str(index)))
            yield Problem(place, f"{key}.steps.{index}", f"it chooses no step; write one of {FORMS}")


def varied(settings: Settings, *, only_prompts: bool = False) -> Settings:
    """The settings with the variant of their shadow laid over, without a shadow; or with nothing of it but prompts of roles."""
    values = settings.shadow.variant.values if settings.shadow is not None else {}
    if only_prompts:
        roles = cast("Mapping[str, Mapping[str, Any]]", values.get("roles", {}))
        values = {
            "roles": {name: {"prompt": role["prompt"]} for name, role in roles.items() if "prompt" in role}
        }
    laid: Settings = _laid(settings, values)
    return dataclasses.replace(laid, shadow=None)


def prompts_in(variant: Json, settings: Settings) -> Json:
    """A variant as it is recorded, with the texts of prompts in the place of files that can be read."""
    roles = variant.get("roles") if isinstance(variant, dict) else None
    if not isinstance(variant, dict) or not isinstance(roles, dict):
        return variant
    return {**variant, "roles": {name: _with_prompt(name, role, settings) for name, role in roles.items()}}


def _with_prompt(name: str, role: Json, settings: Settings) -> Json:
    if not isinstance(role, dict) or not isinstance(prompt := role.get("prompt"), str):
        return role
    with suppress(
        CallerMistake
    ):  # a file that is missing is told of where it is used; the run itself does not need it
        return {**role, "prompt": prompt_text(prompt, name, settings.home)}
    return role


def _laid(section: Any, values: Mapping[str, Any]) -> Any:
    """A section with the values of an overlay over it."""
    fields = {made.name: made for made in fields_of(type(section))}
    changes = {
        name: _changed(made, getattr(section, name), values[name])
        for name, made in fields.items()
        if name in values and not made.spec.is_rest
    }
    for made in fields.values():
        if made.spec.is_rest:
            named = {name: value for name, value in values.items() if name not in fields}
            changes[made.name] = _changed(made, getattr(section, made.name), named)
    for name in _of_another(fields, values):
        changes.setdefault(name, fields[name].make_default())
    return dataclasses.replace(section, **changes)


def _changed(made: SettingField, current: Any, value: Any) -> Any:
    shape, inner = item_type(without_none(made.type)[0])
    if not isinstance(value, Mapping):
        return value
    if shape == "section":
        return _laid(current if current is not None else empty(inner), value)
    return {
        **current,
        **{
            name: _laid(current.get(name) or empty(inner), item) if isinstance(item, Mapping) else item
            for name, item in value.items()
        },
    }


def _of_another(fields: Mapping[str, SettingField], values: Mapping[str, Any]) -> Iterator[str]:
    """Keys that belong to whom the section named before: its secrets and its price, where the overlay names another."""
    is_elsewhere = not _ADDRESSES.isdisjoint(values)
    for name, made in fields.items():
        if is_elsewhere and without_none(made.type)[0] is Secret:
            yield name
        if name == "price" and (is_elsewhere or "model" in values):
            yield name
