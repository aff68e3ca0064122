"""What tools may ask of outlast itself: the verbs of the service, bound to the call that asks."""

from __future__ import annotations

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.errors import Conflict
from outlast.domain.quick import quick
from outlast.ports.background_driver import Answer, BackgroundDrivers
from outlast.ports.store import Store
from outlast.ports.task_rows import TaskFilter
from outlast.ports.tool import BackgroundTasks, Mates
from outlast.runs.means import Caller
from outlast.service.background.public import MOST_SHOWN, glimpse, neutral, told_to_agent
from outlast.service.background.verbs import answer_task, cancel_task, find_task, read_result
from outlast.service.messages import mates_of, send_message
from outlast.tasks.codec import task_in
from outlast.wiring.schemas import problems_in


class ServiceIndoors:
    """Binds what a tool asks to who asks it. With `drivers` a cancel is refused that nobody could carry out."""

    def __init__(self, drivers: BackgroundDrivers | None = None) -> None:
        self._drivers = drivers

    def mates(self, store: Store, caller: Caller) -> Mates:
        """See `Indoors.mates`."""
        return _Mates(store, caller)

    def background(self, store: Store, caller: Caller) -> BackgroundTasks:
        """See `Indoors.background`."""
        return _Background(store, caller, self._drivers)


@quick
@dataclass(frozen=True, slots=True)
class _Background:
    store: Store
    caller: Caller
    drivers: BackgroundDrivers | None

    async def list(self) -> list[Json]:
        caller = self.caller
        wanted = TaskFilter(user_id=caller.user_id, thread_id=caller.thread_id, limit=MOST_SHOWN)
        return [glimpse(task_in(row)) for row in await self.store.list_tasks(wanted)]

    async def show(self, wanted: str, offset: int, limit: int) -> Json:
        task = await find_task(self.store, self.caller.user_id, wanted, self.caller.thread_id)
        text, size = await read_result(self.store, task, offset, limit)
        told = told_to_agent(task)
        if task.product is not None and not task.is_withheld:
            told |= {"result": neutral(text), "offset": offset, "of_characters": size}
        return told

    async def cancel(self, wanted: str) -> Json:
        caller = self.caller
        await cancel_task(self.store, caller.user_id, wanted, caller.thread_id, self.drivers)
        return glimpse(await find_task(self.store, caller.user_id, wanted, caller.thread_id))

    async def answer(self, wanted: str, answer: str | dict[str, Json], question: str | None) -> Json:
        caller = self.caller
        if not caller.is_user_turn:
            detail = "Only a user's own turn may answer what a background task asks."
            raise Conflict("not_the_users_turn", detail, "Tell the user what is asked.")
        given = answer if isinstance(answer, str) else Answer("accept", answer)
        await answer_task(
            self.store,
            caller.user_id,
            wanted,
            given,
            problems_in,
            question=question,
            thread_id=caller.thread_id,
        )
        return glimpse(await find_task(self.store, caller.user_id, wanted, caller.thread_id))


@quick
@dataclass(frozen=True, slots=True)
class _Mates:
    store: Store
    caller: Caller

    async def names(self) -> list[str]:
        return await mates_of(self.store, self.caller.run_id, self.caller.thread_id)

    async def tell(self, run_id: str, text: str) -> None:
        caller = self.caller
        await send_message(self.store, caller.run_id, run_id, text, caller.user_id, caller.key)
