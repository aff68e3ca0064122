"""A shadow over a stage: another model and other tools for chosen steps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from outlast.adapters.execution.binding import bind
from outlast.domain.errors import OutlastError
from outlast.domain.events import ShadowCompared
from outlast.domain.shadow import selector_in
from outlast.domain.task import RoleSettings
from outlast.runs.means import Shadow, Variant
from outlast.runs.shadowing.aftermath import Aftermath
from outlast.wiring.build import pinned
from outlast.wiring.settings.tree import Settings
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import Answering, say
from tests.unit.runs.stage import Stage, staged


@dataclass
class Shade:
    """A stage with a shadow: `answering` plays the variant's model, `tools` are its own; `trouble` keeps it from being built."""

    stage: Stage
    answering: Answering
    tools: tuple[object, ...] = ()
    roles: Mapping[str, RoleSettings] = field(default_factory=dict)
    trouble: OutlastError | None = None
    built: list[bool] = field(default_factory=list)
    aftermath: Aftermath = field(default_factory=Aftermath)

    def cast(self, *steps: str, **bounds: Any) -> None:
        """Shadow these steps from now on."""
        selectors = tuple(selector for step in steps if (selector := selector_in(step)) is not None)
        self.stage.shadow = Shadow(
            selectors=selectors, variant="v1", build=self.build, afterwards=self.aftermath, **bounds
        )

    async def build(self, *, only_prompts: bool) -> Variant:
        self.built.append(only_prompts)
        if self.trouble is not None:
            raise self.trouble
        definition = replace(self.stage.definition, roles=dict(self.roles))
        tools = {tool.name: tool for tool in map(bind, self.tools)}
        means = replace(
            self.stage.means(definition, self.answering),
            tools=tools or self.stage.tools,
            pinned=[
                pinned(tool, Settings(), definition.retry) for tool in (tools or self.stage.tools).values()
            ],
        )
        return Variant(definition, means)

    async def play(self, words: str = "What is there?") -> str:
        """Start a run, drive it until it is given back, and see its comparisons through."""
        run = await self.stage.play(words)
        await self.aftermath.settle(PATIENCE_SECONDS)
        return run

    async def compared(self, run: str) -> list[ShadowCompared]:
        return await self.stage.events(run, ShadowCompared)


@asynccontextmanager
async def shaded(
    workspace: Path,
    answering: Answering,
    *tools: object,
    variant: Answering = lambda request: say("Otherwise."),
    others: Iterable[object] = (),
    roles: Mapping[str, RoleSettings] | None = None,
    **stage: Any,
) -> AsyncIterator[Shade]:
    """A stage with a shadow whose model and tools are the variant's."""
    async with staged(workspace, answering, *tools, **stage) as on:
        shade = Shade(on, variant, tuple(others), roles or {})
        try:
            yield shade
        finally:
            await shade.aftermath.close()
