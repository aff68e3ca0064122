"""Which model, prompt and search a run uses once roles and defaults are taken together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from outlast.domain.errors import CallerMistake
from outlast.domain.task import RoleSettings
from outlast.wiring.settings.document import MAX_BYTES
from outlast.wiring.settings.parts import Search
from outlast.wiring.settings.problem import shown_path
from outlast.wiring.settings.spec import fields_of, lacking
from outlast.wiring.settings.tree import Llm, Role, Roles, Settings

ROLES: Final = tuple(made.name for made in fields_of(Roles))
"""The roles every run has."""

UNKNOWN_WINDOW_TOKENS: Final = 24_000
"""How large a context may be when nobody said how much the model can read."""


def llm_of(settings: Settings, role: str) -> Llm:
    """The model settings of a role: its own over those of `llm`.

    A role with an address or provider of its own does not get the key of `llm`, so that no key is sent elsewhere by mistake.
    """
    own: Role = getattr(settings.roles, role)
    changes: dict[str, Any] = {
        made.name: getattr(own, made.name) for made in fields_of(Llm) if getattr(own, made.name) is not None
    }
    if {"provider", "base_url"} & changes.keys():
        changes.setdefault("api_key", None)
    return dataclasses.replace(settings.llm, **changes)


def role_settings(settings: Settings, role: str, environ: Mapping[str, str]) -> RoleSettings:
    """What a run is pinned to for a role.

    Raises CallerMistake: `missing_setting` where an endpoint lacks its address or model, `missing_variable`, `unreadable_file`
    for a prompt.
    """
    llm, own = llm_of(settings, role), getattr(settings.roles, role)
    require_complete(llm, "llm")
    return RoleSettings(
        model=_model(llm, environ),
        temperature=llm.temperature,
        max_tokens=llm.max_tokens,
        prompt=_prompt(settings, role),
        tools=own.tools,
    )


def search_of(settings: Settings) -> Search:
    """What `web_search` asks: as configured, else the corpus in `./docs` for `offline`, else the keyless web search."""
    if settings.search is not None:
        return settings.search
    return Search() if settings.llm.provider == "offline" else Search(provider="duckduckgo")


def context_max_tokens(settings: Settings) -> int:
    """The most tokens of a context: as configured, else three quarters of the known window, else 24000."""
    configured, window = settings.harness.context.max_tokens, settings.llm.context_window
    return configured or (window * 3 // 4 if window else UNKNOWN_WINDOW_TOKENS)


def _model(llm: Llm, environ: Mapping[str, str]) -> str:
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
    if prompt is None or "\n" in prompt or not prompt.endswith((".md", ".txt")):
        return prompt
    path = settings.home / prompt
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
