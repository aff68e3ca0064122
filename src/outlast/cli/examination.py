"""What `outlast doctor` looks at: everything a run needs of this machine and configuration, each with what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Literal

from outlast.cli.opening import existing_store
from outlast.cli.presence import live_workers
from outlast.cli.toolbox import known_tools, listed_tools
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake, NotFound, OutlastError
from outlast.ports.store import Store
from outlast.wiring.beside import look_beside
from outlast.wiring.discover import ToolEntry
from outlast.wiring.loops import loop_in_words
from outlast.wiring.models import Models
from outlast.wiring.probing import try_model
from outlast.wiring.reading import reading_of
from outlast.wiring.settings.check import check as problems_of
from outlast.wiring.settings.load import load
from outlast.wiring.settings.models import ROLES, asked_model, options_of, search_of
from outlast.wiring.settings.tree import Settings
from outlast.wiring.stores import database_path, server_of, warning_of

LOW_SPACE_BYTES: Final = 500_000_000

Status = Literal["ok", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    status: Status
    detail: str
    next: str = ""

    def as_document(self) -> dict[str, Any]:
        """The finding as JSON values."""
        return asdict(self)


async def examine(config: str | None, *, asks_models: bool = False) -> AsyncGenerator[Finding, None]:
    """Look at everything, cheap things first. Models are only asked something when `asks_models`."""
    yield Finding("python", "ok", f"{sys.version.split()[0]} ({sys.executable})")
    yield Finding("sqlite", "ok", sqlite3.sqlite_version)
    yield Finding("event loop", "ok", loop_in_words())
    try:
        settings = load(config)
    except CallerMistake as mistake:
        yield _trouble("configuration", mistake)
        return
    yield Finding("configuration", "ok", str(settings.file or "none; the defaults are used"))
    for problem in problems_of(config, known_tools=known_tools(config)):
        yield Finding(
            "configuration", "error", str(problem), "Correct it; `outlast config check` lists all problems."
        )
    beside = look_beside(config)
    for problem in beside.broken:
        yield Finding(
            "configuration", "error", str(problem), "Runs that use it do not start until it is mended."
        )
    for problem in beside.missing:
        yield Finding(
            "configuration", "error", str(problem), "Runs that use it do not start here until it is there."
        )
    told = [problem.detail for problem in (*beside.broken, *beside.missing)]
    is_search_told = any(problem.key == "search.path" for problem in beside.missing)
    for notice in settings.notices:
        yield Finding("configuration", "warning", notice)
    for finding in await _store(settings):
        yield finding
    async with aclosing(_models(settings, told, asks_them=asks_models)) as findings:
        async for finding in findings:
            yield finding
    for finding in (*await _servers(settings), _space(settings.home)):
        yield finding
    async with aclosing(_reading(settings, is_told=is_search_told)) as findings:
        async for finding in findings:
            yield finding


async def _store(settings: Settings) -> list[Finding]:
    if settings.harness.persistence.backend == "memory":
        return [Finding("store", "warning", "memory: runs end with the process", "Use sqlite to keep them.")]
    try:
        async with existing_store(settings) as store:
            return [await _served(store, settings), _workers(await live_workers(store))]
    except NotFound:
        return [_absent(database_path(settings, os.environ))]
    except OutlastError as error:
        return [_trouble("store", error)]


async def _served(store: Store, settings: Settings) -> Finding:
    clock = f"its clock says {await store.now():%Y-%m-%d %H:%M:%S} UTC"
    server, warning = server_of(store), warning_of(store)
    if server is not None:
        return Finding("store", "warning" if warning else "ok", f"{server}, {clock}", warning or "")
    path = database_path(settings, os.environ)
    if not os.access(path, os.W_OK):
        return Finding("store", "error", f"{path} is not writable", "Make it writable for this user.")
    return Finding("store", "ok", f"{path}, open and writable, {clock}")


def _workers(names: list[str]) -> Finding:
    told = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return Finding(
        "workers", "ok", told or "none; what waits goes on under `outlast resume` or `outlast worker`"
    )


def _absent(path: Path) -> Finding:
    nearest = next(folder for folder in path.parents if folder.exists())
    if not os.access(nearest, os.W_OK):
        return Finding(
            "store",
            "error",
            f"{nearest} is not writable",
            "Make it writable, or set harness.persistence.path.",
        )
    return Finding("store", "ok", f"{path} will be made by the first run")


async def _models(
    settings: Settings, told: Sequence[str], *, asks_them: bool
) -> AsyncGenerator[Finding, None]:
    """Findings for each different model that roles use, fallbacks included; not of what was told of its script."""
    models = Models(settings, os.environ)
    seen: set[str] = set()
    try:
        for role in ROLES:
            for number, llm in enumerate(options_of(settings, role)):
                parts = (llm.model, llm.base_url, llm.script)
                name = " ".join([llm.provider, *[str(part) for part in parts if part]])
                if name in seen:
                    continue
                seen.add(name)
                try:
                    provider, model = models.of(role, number), asked_model(llm, os.environ)
                except OutlastError as error:
                    if not any(error.detail in one for one in told):
                        yield _trouble("model", error)
                    continue
                if not asks_them:
                    yield Finding("model", "ok", f"{name} is configured (ask it something with --llm)")
                    continue
                async for trial in try_model(provider, model):
                    detail = f"{name}: {trial.what}: {trial.detail}"
                    yield Finding("model", _STATUS[trial.verdict], detail, trial.next)
    finally:
        await models.close()


_STATUS: Final[dict[str, Status]] = {"good": "ok", "poor": "warning", "bad": "error"}


async def _servers(settings: Settings) -> list[Finding]:
    """One finding for each MCP server, which is asked for its tools."""
    tools = await listed_tools(settings)
    return [
        _server(name, [tool for tool in tools if tool.server == name])
        for name in sorted(settings.mcp_servers)
    ]


def _server(name: str, tools: list[ToolEntry]) -> Finding:
    broken = [tool for tool in tools if tool.problem]
    if broken and broken[0].model_name is None:
        return Finding(
            "mcp server", "error", f"{name}: {broken[0].problem}", "Runs that name its tools do not start."
        )
    detail = f"{name}: {len(tools) - len(broken)} tools"
    if not broken:
        return Finding("mcp server", "ok", detail)
    left_out = "; ".join(f"{tool.name}: {tool.problem}" for tool in broken[:5])
    return Finding("mcp server", "warning", f"{detail}; left out: {left_out}", "The others can be used.")


async def _reading(settings: Settings, *, is_told: bool) -> AsyncGenerator[Finding, None]:
    try:
        folder = settings.home / ".outlast"
        reading = await reading_of(settings, os.environ, folder / "corpus.db" if folder.is_dir() else None)
    except OutlastError as error:
        if not is_told:
            yield _trouble("search", error)
        return
    wanted = search_of(settings)
    where = f" {settings.path(wanted.path, os.environ)}" if wanted.provider == "corpus" else ""
    yield Finding("search", "ok", f"{wanted.provider}{where}")
    for problem in reading.problems():
        yield Finding("search", "warning", problem, "Runs go on without this document.")
    await reading.close()


def _space(home: Path) -> Finding:
    free = shutil.disk_usage(home).free
    detail = f"{free / 1e9:.1f} GB free at {home}"
    if free < LOW_SPACE_BYTES:
        return Finding(
            "disk", "warning", detail, "Free some space: a full disk stops runs (they can be resumed)."
        )
    return Finding("disk", "ok", detail)


def _trouble(name: str, error: OutlastError) -> Finding:
    return Finding(name, "error", error.detail, error.next_step)
