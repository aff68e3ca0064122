"""Builds what a run is performed with, from the definition it is pinned to and the settings of this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from outlast.adapters.execution.validation import check_arguments, check_output, problems_in
from outlast.domain.by_identity import by_identity
from outlast.domain.door import Json, canonical_json
from outlast.domain.events import PinnedTool
from outlast.domain.task import RetrySettings, TaskDefinition
from outlast.domain.tool_call import Effect, ToolError
from outlast.domain.tool_names import may_be_of
from outlast.ports.background_driver import BackgroundDrivers
from outlast.ports.live import Live
from outlast.ports.provider import Provider
from outlast.ports.store import Store
from outlast.ports.tool import Tool
from outlast.runs.background import LOCAL
from outlast.runs.means import FormRead, Means, Shadow, Variant
from outlast.runs.remembering.long_term_memory import LongTermMemory
from outlast.runs.shadowing.aftermath import Aftermath
from outlast.runs.structured import read_structured
from outlast.runs.workflows.research.reporting import REPORT_TOOL
from outlast.service.background.office import TaskOffice
from outlast.wiring.adapters import REPAIR, symbol
from outlast.wiring.background import BACKGROUND_TOOLS, DriversByKind, notify_of, rules_of
from outlast.wiring.discover import ToolCatalogue, is_import_path
from outlast.wiring.indoors import ServiceIndoors
from outlast.wiring.local_driver import LocalDriver, LocalDrivers
from outlast.wiring.mcp.drivers import KINDS, McpDrivers
from outlast.wiring.mcp.tools import McpTools, is_stand_in, label_of
from outlast.wiring.models import Endpoints, Models
from outlast.wiring.outside import hooks_of, workflow_of
from outlast.wiring.reading import Reading, reading_of
from outlast.wiring.settings.models import money_doubts
from outlast.wiring.settings.parts import ToolSettings
from outlast.wiring.settings.pin import pinned_settings
from outlast.wiring.settings.repin import pinned_under
from outlast.wiring.settings.shadowed import varied
from outlast.wiring.settings.text import Text
from outlast.wiring.settings.tree import Settings
from outlast.wiring.shadows import shadow_doubts, shadow_of, shadowed_tools
from outlast.wiring.workspaces import workspace_of

READING_TOOLS: Final = frozenset({"web_search", "web_fetch"})
"""Tools that need a search or a fetch; a task without them reads nothing."""


MOST_PINNED: Final = 100
"""How many different records of settings are kept ready."""


class Builder:
    """Builds means for runs on this machine. `provider`, when given, serves every role (tests, demos)."""

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        live: Live,
        *,
        tools: Iterable[object] = (),
        provider: Provider | None = None,
        store: Store | None = None,
        memory: LongTermMemory | None = None,
        endpoints: Endpoints | None = None,
    ) -> None:
        self._own = settings
        self._endpoints = endpoints or Endpoints()
        self._environ = environ
        self._live = live
        self._given_tools = tuple(tools)
        self._provider = provider
        self._store = store
        self._mcp = McpTools(environ)
        self._memory = memory
        self._afterwards = Aftermath()
        self._catalogues: dict[tuple[Path | str, ...], ToolCatalogue] = {}
        self._pinned: dict[str, Settings] = {}
        self._settings = by_identity(self._settings_of, MOST_PINNED)
        self._rules = rules_of(settings)
        elsewhere: dict[str, BackgroundDrivers] = dict.fromkeys(KINDS, McpDrivers(self._mcp, settings))
        here: dict[str, BackgroundDrivers] = (
            {} if store is None else {LOCAL: LocalDrivers(LocalDriver(store, self))}
        )
        self.drivers: BackgroundDrivers = DriversByKind({**elsewhere, **here})

    async def __call__(self, run_id: str, definition: TaskDefinition) -> Means:
        """The means of a run. Raises CallerMistake for everything the run needs that is not here."""
        settings = self._settings(definition)
        build = partial(self._variant, run_id, definition, settings)
        shadow = shadow_of(definition, settings, build, self._afterwards)
        return await self._means(run_id, definition, settings, self._endpoints, shadow)

    async def _variant(
        self, run_id: str, definition: TaskDefinition, settings: Settings, *, only_prompts: bool
    ) -> Variant:
        """What shadowed steps of a run are made with. Endpoints that fail it are not held against those of the run."""
        other = varied(settings, only_prompts=only_prompts)
        changed = pinned_under(definition, other, self._environ)
        needed = replace(changed, tools=shadowed_tools(definition, settings))
        return Variant(changed, await self._means(run_id, needed, other, Endpoints()))

    async def _means(
        self,
        run_id: str,
        definition: TaskDefinition,
        settings: Settings,
        endpoints: Endpoints,
        shadow: Shadow | None = None,
    ) -> Means:
        models = self._models(definition, settings, endpoints)
        tools = await self._tools(definition, settings)
        workflow, hooks = workflow_of(definition), hooks_of(definition)
        reading = await self._reading(settings, tools)

        async def close() -> None:
            await models.close()
            await reading.close()

        return Means(
            workflow=workflow,
            provider=models.of,
            tools=tools,
            pinned=_pinned(tools, settings, definition.retry),
            hooks=hooks,
            check_arguments=check_arguments,
            check_output=check_output,
            read_form=read_form,
            workspace=workspace_of(self._own.home, run_id),
            live=self._live,
            search=reading.search,
            fetch=reading.fetch,
            close=close,
            memory=self._memory if definition.is_remembered else None,
            indoors=ServiceIndoors(self.drivers),
            office=self._office(tools),
            shadow=shadow,
        )

    def _office(self, tools: Mapping[str, Tool]) -> TaskOffice | None:
        """What keeps the background tasks of a run; None where no store was given that could."""
        if self._store is None:
            return None
        own = self._own
        return TaskOffice(self._store, tools, self.drivers, self._rules, partial(notify_of, own))

    def catalogue(self, settings: Settings | None = None) -> ToolCatalogue:
        """The tools there are under these settings (None: those of this process)."""
        settings = settings or self._own
        paths = tuple(self._tool_path(settings, path) for path in settings.tools.paths)
        if paths not in self._catalogues:
            self._catalogues[paths] = ToolCatalogue(
                paths, given=self._given_tools, mcp_servers=settings.mcp_servers.keys()
            )
        return self._catalogues[paths]

    async def settled(self, definition: TaskDefinition) -> tuple[TaskDefinition, list[PinnedTool]]:
        """The definition with the tools of MCP servers under the names models are given, and those that come with background tasks;
        with it the tools as they are now, to be pinned by a run.

        A server is asked once for both, however its list changes meanwhile. Raises CallerMistake as `McpTools` and
        `ToolCatalogue.load` do.
        """
        settings = self._settings(definition)
        known, having = self._own.mcp_servers.keys(), self.catalogue(settings).having
        self._require_approved(definition, settings)
        settled, offered = await self._mcp.settled(definition, settings, known, having)
        tools = self._with_own(settled, settings, offered)
        if any(tool.background is not None for tool in tools.values()):
            settled = replace(settled, tools=tuple(dict.fromkeys([*settled.tools, *BACKGROUND_TOOLS])))
            tools = self._with_own(settled, settings, offered)
        return settled, _pinned(tools, settings, definition.retry)

    def _require_approved(self, definition: TaskDefinition, settings: Settings) -> None:
        """Refuse an approval of a tool that is not there: misspelled, it would leave the tool that is meant unguarded."""
        asked = [rule.tool for rule in definition.approvals if rule.tool is not None]
        own = [name for name in asked if not any(may_be_of(one, name) for one in settings.mcp_servers)]
        if own:
            self.catalogue(settings).require(own)

    def doubts(self, definition: TaskDefinition) -> list[str]:
        """What to know of a run that would be pinned so, before it begins."""
        settings = self._settings(definition)
        return [*money_doubts(definition, settings), *shadow_doubts(definition, settings, self._environ)]

    async def close(self) -> None:
        """End what outlasts single runs, and close connections they share. Safe to call twice."""
        await self._afterwards.close()
        await self._mcp.close()

    async def settle(self, seconds: float) -> None:
        """Wait until nothing that outlasts its run is left to do, for so long at most."""
        await self._afterwards.settle(seconds)

    async def _tools(self, definition: TaskDefinition, settings: Settings) -> dict[str, Tool]:
        """The tools of a definition, in its order: those servers have, else those there are here."""
        elsewhere = await self._mcp.load(tool_names(definition), settings, self.catalogue(settings).having)
        return self._with_own(definition, settings, elsewhere)

    def _with_own(
        self, definition: TaskDefinition, settings: Settings, elsewhere: Mapping[str, Tool]
    ) -> dict[str, Tool]:
        names = tool_names(definition)
        here = self.catalogue(settings).load(name for name in names if name not in elsewhere)
        return {name: found[name] for name in names for found in (elsewhere, here) if name in found}

    def _tool_path(self, settings: Settings, path: Text) -> Path | str:
        """Where tools are found: an import path as it is written, a file or folder from the configuration's directory."""
        written = path.resolve(self._environ)
        return written if is_import_path(written) else settings.path(path, self._environ)

    def problems_with_call(self, name: str, arguments: dict[str, Json]) -> list[str]:
        """What is wrong with the arguments of a tool as it is now; empty when nothing is, or when there is no such tool."""
        known = {entry.name for entry in self.catalogue().list()}
        if name not in known:
            return []
        checked = check_arguments(self.catalogue().load([name])[name], arguments)
        return list(checked.problems or (checked.detail,))[:10] if isinstance(checked, ToolError) else []

    async def check(self, definition: TaskDefinition) -> None:
        """Make sure that the models, the workflow and the hooks of a task are there. Raises CallerMistake as a call does."""
        await self._models(definition, self._settings(definition), self._endpoints).close()
        workflow_of(definition)
        hooks_of(definition)

    def _models(self, definition: TaskDefinition, settings: Settings, endpoints: Endpoints) -> Models:
        models = Models(settings, self._environ, self._provider, endpoints)
        for role in definition.roles:
            models.of(role)
        return models

    @asynccontextmanager
    async def reading(self, definition: TaskDefinition) -> AsyncIterator[Reading]:
        """What a task reads with, brought up to date. Raises CallerMistake as `reading_of` does, when it is not there."""
        reading = await self._reading(self._settings(definition), definition.tools)
        try:
            yield reading
        finally:
            await reading.close()

    def _settings_of(self, definition: TaskDefinition) -> Settings:
        """The settings a run is pinned to; runs that are pinned alike share them."""
        key = canonical_json(definition.settings)
        if key not in self._pinned:
            if len(self._pinned) >= MOST_PINNED:
                self._pinned.clear()
            self._pinned[key] = pinned_settings(definition, self._own)
        return self._pinned[key]

    async def _reading(self, settings: Settings, tools: Iterable[str]) -> Reading:
        if not READING_TOOLS.intersection(tools):
            return Reading()
        return await reading_of(settings, self._environ, self._index())

    def _index(self) -> Path | None:
        if self._own.harness.persistence.backend == "memory":
            return None
        return self._own.home / ".outlast" / "corpus.db"


def tool_names(definition: TaskDefinition) -> tuple[str, ...]:
    """The tools a run of a task may call; a research run can always hand its report in."""
    always = (REPORT_TOOL,) if definition.workflow == "research" else ()
    return tuple(dict.fromkeys((*definition.tools, *always)))


def _pinned(tools: Mapping[str, Tool], settings: Settings, retry: RetrySettings) -> list[PinnedTool]:
    return [pinned(tool, settings, retry) for tool in tools.values() if not is_stand_in(tool)]


_AS_DECLARED: Final = ToolSettings()


def pinned(tool: Tool, settings: Settings, retry: RetrySettings) -> PinnedTool:
    """A tool as a run is pinned to it: its own declaration, then the settings for it, then those for all tools."""
    by_name = settings.tools.by_name
    own: ToolSettings = (
        settings.tools.web_fetch
        if tool.name == "web_fetch"
        else by_name.get(tool.name) or by_name.get(label_of(tool)) or _AS_DECLARED
    )
    cache = (
        own.cache_seconds
        if own.cache_seconds is not None
        else min(tool.cache_seconds, settings.harness.cache_seconds)
    )
    declared = own.retry or tool.retry
    return PinnedTool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        effect=tool.effect,
        version=tool.version,
        timeout_seconds=own.timeout_seconds or tool.timeout_seconds,
        cache_seconds=cache if tool.effect is Effect.READ and tool.background is None else 0.0,
        max_attempts=declared.max_attempts if declared is not None else retry.max_attempts,
        backoff=declared.backoff if declared is not None else retry.backoff,
        exclusive_group=tool.exclusive_group,
        max_concurrent=own.max_concurrent or tool.max_concurrent,
        background=_background(tool),
    )


def _background(tool: Tool) -> str | None:
    if tool.background is None:
        return None
    if tool.background.driver == LOCAL:
        return LOCAL
    return "always" if tool.background.always else "maybe"


def read_form(text: str, schema: Mapping[str, Json]) -> FormRead:
    """The JSON value in a model's text that fits a schema. Raises ModelMistake."""
    found = read_structured(text, schema, validate=partial(problems_in, schema), repair=symbol(REPAIR))
    return FormRead(found.value, found.repaired)
