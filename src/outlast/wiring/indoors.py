"""What tools may ask of outlast itself: the verbs of the service, bound to the call that asks."""

from __future__ import annotations

from dataclasses import dataclass

from outlast.ports.store import Store
from outlast.ports.tool import Mates
from outlast.runs.means import Caller
from outlast.service.messages import mates_of, send_message


class ServiceIndoors:
    """Binds what a tool asks to who asks it."""

    def mates(self, store: Store, caller: Caller) -> Mates:
        """See `Indoors.mates`."""
        return _Mates(store, caller)


@dataclass(frozen=True, slots=True)
class _Mates:
    store: Store
    caller: Caller

    async def names(self) -> list[str]:
        return await mates_of(self.store, self.caller.run_id, self.caller.thread_id)

    async def tell(self, run_id: str, text: str) -> None:
        caller = self.caller
        await send_message(self.store, caller.run_id, run_id, text, caller.user_id, caller.key)
