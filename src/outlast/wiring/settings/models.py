"""Which model, prompt and search a run uses once roles and defaults are taken together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from outlast.domain.errors import CallerMistake
from outlast.domain.task import ModelSettings, Price, RoleSettings, TaskDefinition
from outlast.ports.catalogue import FindModel, KnownModel
from outlast.wiring.adapters import FIND_MODEL, symbol
from outlast.wiring.settings.document import MAX_BYTES
from outlast.wiring.settings.parts import Search
from outlast.wiring.settings.problem import shown_path
from outlast.wiring.settings.spec import fields_of, lacking
from outlast.wiring.settings.tree import Fallback, Llm, Role, Roles, Settings

ROLES: Final = tuple(made.name for made in fields_of(Roles))
"""The roles every run has."""

UNKNOWN_WINDOW_TOKENS: Final = 24_000
"""How large a context may be when nobody said how much the model can read."""


def llm_of(settings: Settings, role: str) -> Llm:
    """The model settings of a role: its own over those of `llm`.

    A role with an address or provider of its own does not get the key of `llm`, so that no key is sent elsewhere by mistake.
    """
    own: Role = getattr(settings.roles, role)
    return _over(settings.llm, own)


def options_of(settings: Settings, role: str) -> tuple[Llm, ...]:
    """The models of a role in the order they are asked: its own, then its fallbacks, each over what the role has."""
    first = llm_of(settings, role)
    return (first, *(_over(dataclasses.replace(first, fallbacks=()), other) for other in first.fallbacks))


def _over(llm: Llm, other: Role | Fallback) -> Llm:
    """Model settings with those of a role or fallback over them. A price belongs to its model, a key to its address."""
    changes: dict[str, Any] = {
        made.name: value for made in fields_of(Llm) if (value := getattr(other, made.name, None)) is not None
    }
    if {"provider", "base_url"} & changes.keys():
        changes.setdefault("api_key", None)
    if {"provider", "base_url", "model"} & changes.keys():
        changes.setdefault("price", None)
    return dataclasses.replace(llm, **changes)


def role_settings(settings: Settings, role: str, environ: Mapping[str, str]) -> RoleSettings:
    """What a run is pinned to for a role.

    Raises CallerMistake: `missing_setting` where an endpoint lacks its address or model, `missing_variable`, `unreadable_file`
    for a prompt.
    """
    first, *others = [_pinned(llm, environ) for llm in options_of(settings, role)]
    return RoleSettings(
        model=first.model,
        temperature=first.temperature,
        max_tokens=first.max_tokens,
        prompt=_prompt(settings, role),
        tools=getattr(settings.roles, role).tools,
        price=first.price,
        fallbacks=tuple(others),
    )


def _pinned(llm: Llm, environ: Mapping[str, str]) -> ModelSettings:
    require_complete(llm, "llm")
    name = asked_model(llm, environ)
    return ModelSettings(
        model=name,
        temperature=llm.temperature,
        max_tokens=llm.max_tokens,
        price=_price(llm, name, environ),
    )


def _price(llm: Llm, model: str, environ: Mapping[str, str]) -> Price | None:
    """The price as configured, else as the table has it for this address; None where neither tells."""
    if llm.price is not None:
        return Price(input_usd=llm.price.input, output_usd=llm.price.output)
    known = known_model(llm, model, environ)
    return known.price if known is not None else None


def known_model(llm: Llm, model: str, environ: Mapping[str, str]) -> KnownModel | None:
    """What the built-in table knows of a model at a public address; None for any other."""
    if llm.provider != "openai_compatible" or llm.base_url is None:
        return None
    find: FindModel = symbol(FIND_MODEL)
    return find(llm.base_url.resolve(environ), model)


def money_doubts(definition: TaskDefinition, settings: Settings) -> list[str]:
    """What to know of a run that has `max_cost`: models whose price nobody knows count only what their endpoint states."""
    if definition.limits.max_cost_usd is None:
        return []
    unpriced = {
        model.model
        for name, role in definition.roles.items()
        for number, llm in enumerate(options_of(settings, name) if name in ROLES else ())
        if llm.provider == "openai_compatible" and (model := role.option(number)).price is None
    }
    return [
        f"max_cost counts for {name} only what its endpoint states: no price of it is known. Set llm.price to bound it."
        for name in sorted(unpriced)
    ]


def search_of(settings: Settings) -> Search:
    """What `web_search` asks: as configured, else the corpus in `./docs` for `offline`, else the keyless web search."""
    if settings.search is not None:
        return settings.search
    return Search() if settings.llm.provider == "offline" else Search(provider="duckduckgo")


def context_max_tokens(settings: Settings, environ: Mapping[str, str]) -> int:
    """The most tokens of a context: as configured, else three quarters of the smallest known window, else 24000."""
    configured = settings.harness.context.max_tokens
    if configured:
        return configured
    windows = [
        window
        for role in ROLES
        for llm in options_of(settings, role)
        if (window := llm.context_window or _known_window(llm, environ))
    ]
    return min(windows) * 3 // 4 if windows else UNKNOWN_WINDOW_TOKENS


def _known_window(llm: Llm, environ: Mapping[str, str]) -> int | None:
    known = known_model(llm, asked_model(llm, environ), environ)
    return known.window_tokens if known is not None else None


def asked_model(llm: Llm, environ: Mapping[str, str]) -> str:
    """The name a model is asked by. Raises CallerMistake (`missing_setting`, `missing_variable`)."""
    if llm.provider == "offline":
        return "offline"
    if llm.model is not None:
        return llm.model.resolve(environ)
    if llm.provider == "openai_compatible":
        raise missing_setting("llm.model", "Name of the model.")
    return llm.provider


def require_complete(section: Any, path: str) -> None:
    """Raise CallerMistake (`missing_setting`) if the section at `path` lacks a key that is needed as it is configured."""
    for made in lacking(section):
        raise missing_setting(f"{path}.{made.name}", made.spec.doc)


def missing_setting(key: str, meaning: str) -> CallerMistake:
    """The mistake of leaving out a key that a run needs."""
    return CallerMistake(
        "missing_setting", f"{key} is not set, and this run needs it. It means: {meaning}", f"Set {key}."
    )


def _prompt(settings: Settings, role: str) -> str | None:
    """The prompt of a role: the text itself, or the content of the file it names."""
    prompt: str | None = getattr(settings.roles, role).prompt
    return None if prompt is None else prompt_text(prompt, role, settings.home)


def prompt_text(prompt: str, role: str, home: Path) -> str:
    """A prompt as it is written, or the content of the file it names. Raises CallerMistake (`unreadable_file`)."""
    if "\n" in prompt or not prompt.endswith((".md", ".txt")):
        return prompt
    path = home / prompt
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise _bad_prompt(role, shown_path(path), f"cannot be read ({reason})") from error
    if len(content) > MAX_BYTES:
        raise _bad_prompt(role, shown_path(path), f"is larger than {MAX_BYTES // 1024} KiB")
    return text


def _bad_prompt(role: str, path: str, reason: str) -> CallerMistake:
    return CallerMistake(
        "unreadable_file",
        f"roles.{role}.prompt names the file {path}, which {reason}.",
        "Correct the path, relative to the config's directory, or write the prompt itself in several lines.",
    )
