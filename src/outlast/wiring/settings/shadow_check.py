"""What `outlast config check` finds about a shadow: steps that no task makes, and values that runs cannot take with them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from outlast.domain.shadow import Selector, selector_in
from outlast.wiring.settings.document import Document
from outlast.wiring.settings.models import ROLES, options_of
from outlast.wiring.settings.pin import DEFAULT_TOOLS
from outlast.wiring.settings.problem import Problem, nearest
from outlast.wiring.settings.shadowed import shadow_key
from outlast.wiring.settings.task_tree import TaskDocument
from outlast.wiring.settings.text import Secret, Text
from outlast.wiring.settings.tree import Settings
from outlast.wiring.settings.walk import texts_of

_OWN: Final = ":"
"""Stands in the names of workflows that are not built in; their roles and models are their own."""


def shadow_problems(
    settings: Settings,
    document: Document,
    environ: Mapping[str, str],
    tasks: Sequence[TaskDocument],
    known_tools: Collection[str] | None,
) -> Iterator[Problem]:
    """What would keep the shadow of a configuration from comparing anything. The runs themselves would not notice."""
    chosen, key = settings.shadow, shadow_key(document)
    if chosen is None:
        return
    at = document.place((key,))
    if not chosen.steps and chosen.variant.values:
        yield Problem(at, f"{key}.steps", "no step is chosen, so the variant is not used; name some")
    if chosen.steps and not chosen.variant.values:
        yield Problem(
            at, f"{key}.variant", "nothing differs in it, so there is nothing to compare; say what does"
        )
    for index, step in enumerate(chosen.steps):
        selector = selector_in(step)
        detail = _chooses_nothing(selector, settings, environ, tasks, known_tools) if selector else None
        if detail is not None:
            place = document.place((key, "steps", str(index)))
            yield Problem(place, f"{key}.steps.{index}", detail, "nothing_to_shadow")
    yield from _texts(settings, document, environ)


def _chooses_nothing(
    selector: Selector,
    settings: Settings,
    environ: Mapping[str, str],
    tasks: Sequence[TaskDocument],
    known_tools: Collection[str] | None,
) -> str | None:
    """Why a selector takes no step of any task; None where it may take one."""
    name, are_own = selector.name, any(_OWN in task.workflow for task in tasks)
    if selector.kind == "tool":
        return _uncalled(name, settings, tasks, known_tools)
    if selector.kind in ("role", "prompt") and name not in ROLES and not are_own:
        near = nearest(name, ROLES)
        return f"there is no role {name}" + (
            f"; did you mean {near}?" if near else f"; there are {', '.join(ROLES)}"
        )
    if selector.kind == "prompt" and not _has_prompt(settings, name):
        return f"the variant has no roles.{name}.prompt, so there is nothing to compare; write one"
    if selector.kind == "model" and name:
        models = _models(settings, environ)
        if models is not None and name not in models:
            return f"no role asks a model {name}; they ask {', '.join(sorted(models))}"
    return None


def _uncalled(
    name: str, settings: Settings, tasks: Sequence[TaskDocument], known_tools: Collection[str] | None
) -> str | None:
    server, colon, _ = name.partition(":")
    if colon and server not in settings.mcp_servers:
        return f"there is no MCP server {server}"
    if not colon and known_tools is not None and name not in known_tools:
        near = nearest(name, known_tools)
        return f"there is no tool {name}" + (f"; did you mean {near}?" if near else "")
    named = {tool for task in tasks for tool in task.tools or DEFAULT_TOOLS.get(task.workflow, ())}
    if not tasks or name in named or (colon and any(tool.partition(":")[0] == server for tool in named)):
        return None
    return f"no task here has the tool {name}; name it in task.tools of one"


def _has_prompt(settings: Settings, role: str) -> bool:
    values: Mapping[str, Any] = settings.shadow.variant.values if settings.shadow is not None else {}
    return "prompt" in values.get("roles", {}).get(role, {})


def _models(settings: Settings, environ: Mapping[str, str]) -> set[str] | None:
    """The names of all models that roles ask; None where a name cannot be told now."""
    options = [llm for role in ROLES for llm in options_of(settings, role)]
    if any(llm.model is not None and list(llm.model.missing(environ)) for llm in options):
        return None
    return {llm.model.resolve(environ) if llm.model is not None else llm.provider for llm in options}


def _texts(settings: Settings, document: Document, environ: Mapping[str, str]) -> Iterator[Problem]:
    """Variables of the variant that are not set, and secrets that runs could not take with them."""
    for text in _texts_in(settings.shadow.variant.values if settings.shadow is not None else {}):
        place = document.place(tuple(text.key.split(".")))
        if isinstance(text, Secret) and not text.is_reference:
            detail = "a secret of a variant is not recorded with runs; write a reference such as ${NAME}"
            yield Problem(place, text.key, detail, "missing_secret")
        for name in text.missing(environ):
            detail = f"it needs the environment variable {name}, which is not set"
            yield Problem(place, text.key, detail, "missing_variable")


def _texts_in(value: Any) -> Iterator[Text]:
    if isinstance(value, Text):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts_in(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts_in(item)
    elif hasattr(value, "__dataclass_fields__"):
        yield from texts_of(value)
