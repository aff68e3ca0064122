"""Starting runs for whoever asks over HTTP: what they may set, and what happens when their thread is busy."""

from __future__ import annotations

from typing import Final

from fastapi.responses import JSONResponse
from pydantic import JsonValue

from outlast.domain.states import ENDED
from outlast.gateway.access import Caller
from outlast.gateway.exact import ExactJSONResponse
from outlast.gateway.problems import Refusal
from outlast.gateway.shapes.asked import NewRun
from outlast.gateway.site import Site
from outlast.service.show import show_run
from outlast.wiring.engine import Request
from outlast.wiring.settings.overrides import Override, from_mapping

FREE_KEYS: Final = (
    "task.max_steps",
    "task.timeout_minutes",
    "task.max_wall_time",
    "task.max_tokens_total",
    "task.max_cost",
    "task.max_replans",
    "llm.temperature",
    "llm.max_tokens",
    "harness.max_concurrent_subtasks",
    "harness.max_concurrent_tools",
    "harness.context",
)
"""What everybody who may start a run may set. The rest decides what code runs here and where keys are sent; it takes an admin."""


async def begin(
    site: Site,
    caller: Caller,
    wanted: NewRun,
    key: str | None,
    *,
    thread_id: str | None = None,
    continues: str | None = None,
) -> JSONResponse:
    """Start a run, or find the one the key names; answers with its `show` document.

    Raises what `Engine.begin` raises, Refusal (`setting_forbidden`), and Conflict (`thread_busy`) where the thread has an active run.
    """
    begun = await site.engine.begin(
        Request(
            task=wanted.task,
            input=wanted.input,
            continues=continues,
            thread_id=thread_id,
            key=key,
            user_id=caller.user_id,
            overrides=allowed_overrides(caller, wanted.config),
            by_name_only=True,
            strategy=wanted.multitask_strategy,
        )
    )
    return await shown(site, caller, begun.run_id)


async def shown(site: Site, caller: Caller, run_id: str) -> JSONResponse:
    """The `show` document of a run that was started or changed: 202 while it goes on, 200 once it has ended."""
    document = await site.aside.do(show_run(site.store, run_id, caller.user_id))
    return ExactJSONResponse(document, 200 if document["state"] in ENDED else 202)


def allowed_overrides(caller: Caller, config: dict[str, JsonValue]) -> tuple[Override, ...]:
    """The overrides in a request. Raises Refusal (`setting_forbidden`) for what this caller may not set."""
    overrides = tuple(from_mapping(config))
    if "admin" in caller.scopes:
        return overrides
    for override in overrides:
        dotted = ".".join(override.path)
        if not any(f"{dotted}.".startswith(f"{free}.") for free in FREE_KEYS):
            detail = f"{dotted[:200]} may not be set with the scopes of this token."
            raise Refusal("setting_forbidden", detail, f"You may set: {', '.join(FREE_KEYS)}.", status=403)
    return overrides
