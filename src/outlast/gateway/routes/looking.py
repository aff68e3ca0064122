"""What the server has to offer: tasks, tools, settings."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import JsonValue

from outlast.domain.errors import CallerMistake
from outlast.gateway.access import Admin, Reader
from outlast.gateway.shapes.looks import TaskList, ToolList
from outlast.gateway.site import AtSite
from outlast.wiring.settings.task_files import find_task, task_names
from outlast.wiring.settings.tree import Settings
from outlast.wiring.settings.walk import masked

router = APIRouter(prefix="/api", tags=["server"])


@router.get("/tasks", response_model=TaskList)
async def tasks(caller: Reader, site: AtSite) -> JSONResponse:
    """The tasks that runs can be started of."""
    return JSONResponse({"tasks": await asyncio.to_thread(_tasks, site.engine.settings)})


@router.get("/tools", response_model=ToolList)
async def tools(caller: Reader, site: AtSite) -> JSONResponse:
    """The tools a task may name."""
    entries = await asyncio.to_thread(site.engine.builder.catalogue().list)
    listed = [
        {
            "name": entry.name,
            "effect": entry.effect,
            "origin": entry.origin,
            "replaces_built_in": entry.replaces is not None,
        }
        for entry in entries
    ]
    return JSONResponse({"tools": listed})


@router.get("/config", response_model=dict[str, JsonValue])
async def config(caller: Admin, site: AtSite) -> JSONResponse:
    """The settings in force, secrets masked."""
    return JSONResponse(masked(site.engine.settings))


def _tasks(settings: Settings) -> list[dict[str, str | None]]:
    return [_task(name, settings) for name in task_names(settings)]


def _task(name: str, settings: Settings) -> dict[str, str | None]:
    try:
        document = find_task(name, settings, by_name_only=True).document
    except CallerMistake as mistake:
        return {"name": name, "description": "", "workflow": "", "problem": mistake.detail}
    workflow = str(document.workflow)
    return {"name": name, "description": document.description, "workflow": workflow, "problem": None}
