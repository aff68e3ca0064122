"""The background tasks of one configuration: by which rules they are followed, by which drivers, in which lanes."""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from outlast.domain.background import BackgroundTask, Notify
from outlast.ports.background_driver import BackgroundDriver, BackgroundDrivers, Trouble
from outlast.ports.queue import Shares
from outlast.ports.store import Store
from outlast.runs.background import LOCAL
from outlast.runs.elapsed import elapsed_seconds
from outlast.service.background.delivery import Delivery
from outlast.service.background.judging import Judge
from outlast.tasks.acts import Acts
from outlast.tasks.guarding import GuardedDrivers
from outlast.tasks.happenings import Queue
from outlast.tasks.lane import Act, Lane
from outlast.tasks.loops import TaskShift
from outlast.tasks.rules import RulesOf, TaskRules
from outlast.wiring.identity import as_holder, own_identity
from outlast.wiring.outside import hooks_of
from outlast.wiring.settings.parts import BackgroundTasks, ServerBackgroundTasks
from outlast.wiring.settings.tree import Settings

BACKGROUND_TOOLS: Final = ("list_background_tasks", "cancel_background_task", "answer_background_task")
"""The tools that come with any tool that may go on in the background."""

LOCAL_CALL_SECONDS: Final = 7 * 86_400.0
"""How long the work of a local task may take."""


class DriversByKind:
    """Finds the driver of a task among those of its kind."""

    def __init__(self, by_kind: Mapping[str, BackgroundDrivers]) -> None:
        self._by_kind = by_kind

    async def driver_for(self, driver: str, server: str) -> BackgroundDriver | Trouble:
        """See `BackgroundDrivers.driver_for`."""
        drivers = self._by_kind.get(driver)
        if drivers is not None:
            return await drivers.driver_for(driver, server)
        return Trouble(
            "driver_unknown",
            f"This process cannot look after tasks of the kind {driver}.",
            "Let workers run the version of outlast that began the task, with the same extras.",
            passing=False,
        )


def rules_of(settings: Settings) -> RulesOf:
    """The rules of each task: those of `background_tasks`, with what its server's section says otherwise."""
    common = settings.background_tasks
    rules = {
        name: _rules(common, server.background_tasks, server.timeout_seconds)
        for name, server in settings.mcp_servers.items()
    }
    local = _rules(common, ServerBackgroundTasks(), LOCAL_CALL_SECONDS)
    other = _rules(common, ServerBackgroundTasks(), TaskRules().call_seconds)

    def find(task: BackgroundTask) -> TaskRules:
        return local if task.driver == LOCAL else rules.get(task.server, other)

    return find


def _rules(common: BackgroundTasks, own: ServerBackgroundTasks, call_seconds: float) -> TaskRules:
    def chosen(name: str) -> float:
        value: float | None = getattr(own, name)
        common_value: float = getattr(common, name)
        return common_value if value is None else value

    named = {field.name for field in fields(ServerBackgroundTasks)} - {"notify"}
    return TaskRules(**{name: chosen(name) for name in named}, call_seconds=call_seconds)  # type: ignore[arg-type]


def notify_of(settings: Settings, driver: str, server: str) -> Notify:
    """Who tells a thread of the tasks of a server."""
    configured = settings.mcp_servers.get(server) if driver != LOCAL else None
    own = configured.background_tasks.notify if configured is not None else None
    return own or settings.background_tasks.notify


def task_shift(
    store: Store,
    settings: BackgroundTasks,
    drivers: BackgroundDrivers,
    rules: RulesOf,
    alarm: Act,
) -> TaskShift:
    """The lanes of one worker of this process; `alarm` tells operators of troubles."""
    acts = Acts(store, GuardedDrivers(drivers), rules)
    holder = as_holder(own_identity())
    judge = Judge(store, hooks_of)
    delivery = Delivery(
        store, rules, judge, holder=holder, lease_seconds=settings.lease_seconds, random=secrets.token_bytes
    )
    acts_of: dict[Queue, Act] = {
        Queue.POLL: acts.poll,
        Queue.CANCEL: acts.cancel,
        Queue.NOTIFY: delivery,
        Queue.ALERT: alarm,
    }
    lanes = [
        Lane(
            store,
            queue,
            act,
            holder=holder,
            slots=settings.max_concurrent,
            shares=Shares(settings.max_concurrent_per_user, settings.max_concurrent_per_server),
            lease_seconds=settings.lease_seconds,
            elapsed=elapsed_seconds,
            chance=random.random,
        )
        for queue, act in acts_of.items()
    ]
    return TaskShift(store, lanes)
