"""A stage whose runs begin work on a server, and the hands of a worker that looks after it."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from outlast.domain.background import BackgroundTask
from outlast.ports.background_driver import Handle
from outlast.ports.queue import Enqueue, Shares
from outlast.ports.store import Store
from outlast.ports.task_rows import TaskFilter
from outlast.ports.tool import Background, tool
from outlast.service.background.alerting import Alerting
from outlast.service.background.delivery import Delivery
from outlast.service.background.judging import HooksOf, Judge
from outlast.tasks.acts import Acts, Held
from outlast.tasks.codec import task_in
from outlast.tasks.desk import read_kept
from outlast.tasks.happenings import Queue
from outlast.tasks.lane import Act
from outlast.tasks.rules import Moment, TaskRules
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.parts import Answering, ask_for, call, results, say
from tests.unit.runs.stage import Stage, staged
from tests.unit.tasks.remote import Remote

SECRET: Final = "remote-id-canary"
RULES: Final = TaskRules(poll_interval_seconds=0.05, max_backoff_seconds=1, call_seconds=5, lease_seconds=600)

_numbers = itertools.count(1)


@dataclass
class Farm:
    """What the tool `render` hands its work to. `handles` are those it gave, of the kind `driver`; `next_ids` are given before
    others."""

    remote: Remote = field(default_factory=Remote)
    handles: list[Handle] = field(default_factory=list)
    next_ids: list[str] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    driver: str = "far"

    def tool(self) -> object:
        farm = self

        @tool(name="render", effect="once")
        async def render(scene: str) -> Handle:
            """Render a scene on the farm."""
            remote_id = farm.next_ids.pop(0) if farm.next_ids else f"{SECRET}-{next(_numbers)}"
            handle = Handle(
                driver=farm.driver,
                server="farm",
                principal="me",
                protocol_version="1",
                remote_id=remote_id,
                data={"token": f"{SECRET}-token"},
                name="render",
            )
            farm.handles.append(handle)
            return handle

        return render


@dataclass
class Hands:
    """A stage with a farm, and a worker's acts on its tasks."""

    stage: Stage
    farm: Farm
    alarms: list[Any] = field(default_factory=list)
    hooks_of: HooksOf | None = None

    @property
    def store(self) -> Store:
        return self.stage.store

    async def do(self, queue: Queue, store: Store | None = None) -> int:
        """Do what is due in a queue, as one worker; how much that was."""
        store = store or self.store
        done = 0
        while claims := await store.claim(queue.value, "hands", 600, limit=1, shares=Shares()):
            kept = await read_kept(store, claims[0].item)
            assert kept is not None
            moment = partial(Moment, claims[0].store_now)
            await self._act(queue, store)(Held(claims[0], moment), kept)
            done += 1
        return done

    def _act(self, queue: Queue, store: Store) -> Act:
        acts = Acts(store, self.farm.remote, lambda task: self.stage.rules)
        delivery = Delivery(
            store,
            lambda task: self.stage.rules,
            Judge(store, self.hooks_of or (lambda _: self.stage.hooks)),
            holder="hands",
            lease_seconds=600,
            random=lambda count: hashlib.sha512(b"farm %d" % next(_numbers)).digest()[:count],
        )
        return {
            Queue.POLL: acts.poll,
            Queue.CANCEL: acts.cancel,
            Queue.NOTIFY: delivery,
            Queue.ALERT: Alerting(store, self.alarms),
        }[queue]

    async def poll(self) -> None:
        """Ask for every open task now."""
        await self.hurry(Queue.POLL)
        await self.do(Queue.POLL)

    async def hurry(self, queue: Queue) -> None:
        """Let everything in a queue be due now."""
        now = await self.store.now()
        for task in await self.tasks():
            await self.store.commit([Enqueue(queue.value, task.task_id, now, task.user_id, task.server)])

    async def cancelled_at_its_source(self) -> None:
        """The one task that has a handle is to be cancelled, and is, at the other side."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (kept := [task for task in await self.tasks() if task.remote_id]):  # noqa: ASYNC110 - nobody waits for it
                await asyncio.sleep(0)
        [task] = kept
        assert task.cancel_requested_at is not None
        await self.hurry(Queue.CANCEL)
        await self.do(Queue.CANCEL)
        assert list(self.farm.remote.cancels) == [self.farm.handles[0].remote_id]

    async def work_due(self) -> list[str]:
        """Drive every run that is due; which they were."""
        worked: list[str] = []
        while (due := await self.store.next_due("runs")) is not None and due <= await self.store.now():
            claims = await self.stage.worker().claim_due(1, Shares())
            if not claims:
                break
            worked.append(claims[0].item)
            await self.store.expire_lease("runs", claims[0].item)  # type: ignore[attr-defined]
            await self.stage.work(claims[0].item)
        return worked

    async def tasks(self) -> list[BackgroundTask]:
        """Every task, the oldest first."""
        return [task_in(row) for row in reversed(await self.store.list_tasks(TaskFilter()))]

    async def task(self, name: str = "render") -> BackgroundTask:
        """The task of this name."""
        return next(task for task in await self.tasks() if task.name == name)


def rendering(told: str = "It is done.") -> Answering:
    """A model that has a scene rendered when it is asked to, and tells what it hears."""

    def answering(request: Any) -> Any:
        asked = request.messages[-1].text
        if "render" in asked and not results(request) and any(one.name == "render" for one in request.tools):
            return ask_for(call("render", scene="a"))
        return say("It goes on." if results(request) else told)

    return answering


@asynccontextmanager
async def farming(
    workspace: Path, answering: Answering | None = None, *tools: object, always: bool = False, **task: Any
) -> AsyncIterator[Hands]:
    """A stage with the tool `render`; `always` is whether each call is known to be a task before it is made."""
    farm = Farm()
    async with staged(workspace, answering or rendering(), farm.tool(), *tools, **task) as stage:
        stage.drivers, stage.rules = farm.remote, RULES
        stage.tools["render"].background = Background("far", "farm", "me", always=always)
        yield Hands(stage, farm)
