"""The shadow of a run: what its pinned settings say is also made another way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from outlast.domain.door import canonical_json, digest_of
from outlast.domain.errors import CallerMistake
from outlast.domain.shadow import Selector, selector_in
from outlast.domain.task import TaskDefinition
from outlast.runs.means import Afterwards, BuildVariant, Shadow
from outlast.wiring.settings.models import money_doubts
from outlast.wiring.settings.repin import pinned_under
from outlast.wiring.settings.shadowed import varied
from outlast.wiring.settings.tree import Settings

DIGEST_CHARACTERS: Final = 12
"""How much of the digest of a variant is kept."""


def selectors_of(settings: Settings) -> tuple[Selector, ...]:
    """What chooses the steps that are shadowed."""
    steps = settings.shadow.steps if settings.shadow is not None else ()
    return tuple(selector for step in steps if (selector := selector_in(step)) is not None)


def shadow_of(
    definition: TaskDefinition, settings: Settings, build: BuildVariant, afterwards: Afterwards
) -> Shadow | None:
    """The shadow of a run that is pinned so; None where no step is chosen."""
    selectors, chosen = selectors_of(settings), settings.shadow
    if chosen is None or not selectors:
        return None
    recorded = definition.settings.get("shadow")
    variant = recorded.get("variant") if isinstance(recorded, dict) else None
    return Shadow(
        selectors=selectors,
        variant=digest_of(canonical_json(variant))[:DIGEST_CHARACTERS],
        build=build,
        afterwards=afterwards,
        share=chosen.share,
        timeout_seconds=chosen.timeout_seconds,
        max_concurrent=chosen.max_concurrent,
        max_cost_usd=chosen.max_cost,
        max_tokens=chosen.max_tokens,
    )


def shadow_doubts(definition: TaskDefinition, settings: Settings, environ: Mapping[str, str]) -> list[str]:
    """What to know of the shadow of a run that is pinned so: that its variant lacks something, or that its bound may not hold."""
    if not selectors_of(settings) or settings.shadow is None:
        return []
    other = varied(settings)
    try:
        changed = pinned_under(definition, other, environ)
    except CallerMistake as mistake:
        return [f"The shadow will compare nothing, since its variant lacks something: {mistake.detail}"]
    limits = replace(changed.limits, max_cost_usd=settings.shadow.max_cost)
    return [f"shadow.{doubt}" for doubt in money_doubts(replace(changed, limits=limits), other)]


def shadowed_tools(definition: TaskDefinition, settings: Settings) -> tuple[str, ...]:
    """The tools of a run whose calls may be shadowed."""
    selectors = selectors_of(settings)
    return tuple(name for name in definition.tools if any(one.takes_tool(name) for one in selectors))
