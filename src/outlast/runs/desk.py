"""The desk at which calls of one run are performed: its means, its readings, its clock and its lease."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Protocol

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, digest_of
from outlast.domain.errors import Broken
from outlast.domain.events import AnyEvent, ModelRequested
from outlast.domain.quick import quick
from outlast.domain.run import Call, RunState
from outlast.domain.tool_call import ToolError
from outlast.ports.background_driver import Handle
from outlast.ports.batch import Item
from outlast.ports.provider import ModelRequest
from outlast.ports.queue import Claim
from outlast.ports.store import Store
from outlast.ports.stream import PutPayload
from outlast.ports.tool import Tool, ToolContext
from outlast.runs.cache import Cache
from outlast.runs.elapsed import elapsed_seconds
from outlast.runs.ledger import Ledger
from outlast.runs.means import Means
from outlast.runs.money import Spending

_MOST_FITTING = 256
"""Of more calls than this that never ran it is forgotten that their arguments fit."""

NOTHING_TO_DO = "Nothing to do: another worker goes on with the run."
"""What there is to do about a lease that was lost."""


@quick
@dataclass(frozen=True, slots=True)
class Outcome:
    """What a performed command came to: events to append, and items that ride in the same commit.

    `handle` is that of a background task that goes on, which `call` began; where it cannot be kept because it is another task's, the
    call comes to `otherwise`.
    """

    events: Sequence[AnyEvent]
    items: Sequence[Item] = ()
    handle: Handle | None = None
    otherwise: AnyEvent | None = None
    call: Call | None = None


@dataclass(slots=True)
class Lease:
    """A claim by this process's elapsed time. `until_seconds` moves on with every renewal; `is_lost` is final."""

    claim: Claim
    claimed_seconds: float
    lease_seconds: float
    until_seconds: float = 0.0
    is_lost: bool = False

    def __post_init__(self) -> None:
        self.until_seconds = self.claimed_seconds + self.lease_seconds

    def was_renewed(self, asked_seconds: float) -> None:
        """Note that the store renewed the lease on a request made at `asked_seconds`."""
        self.until_seconds = asked_seconds + self.lease_seconds


class Witness(Protocol):
    """Who is told of the steps of a run as they are carried out; it holds nothing up and raises nothing."""

    def sees_model(
        self,
        state: RunState,
        intent: ModelRequested,
        request: ModelRequest,
        form: str | None,
        schema: Mapping[str, Json] | None,
    ) -> None:
        """A model is asked."""
        ...

    def sees_tool(self, state: RunState, call: Call, arguments: dict[str, Json]) -> None:
        """A tool is run with these arguments, which fit it."""
        ...

    def hears(self, call: str, events: Sequence[AnyEvent]) -> None:
        """What a call came to; nothing where it was given up."""
        ...

    def offers(self) -> Sequence[AnyEvent]:
        """What may ride in a commit; what was offered before and not answered for is lost."""
        ...

    def was_taken(self, *, is_durable: bool) -> None:
        """What was offered last is durable, or is to be offered again."""
        ...

    def leave(self, *, is_cancelled: bool) -> None:
        """The work on the run is over here."""
        ...


@dataclass(slots=True)
class Desk:
    """One run at work in one process.

    `present` is the run as it stands; `spendings` what tools of open calls have used up; `fitting` the arguments of calls that were
    found to fit when their model asked for them.
    """

    run_id: str
    user_id: str
    thread_id: str
    store: Store
    means: Means
    lease: Lease
    ledger: Ledger = field(default_factory=Ledger)
    cache: Cache = field(default_factory=Cache)
    witness: Witness | None = None
    present: Callable[[], RunState] | None = None
    spendings: dict[str, Spending] = field(default_factory=dict)
    fitting: dict[str, dict[str, Json]] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)

    @property
    def generation(self) -> int:
        """The generation of this worker's claim."""
        return self.lease.claim.generation

    def seconds(self) -> float:
        """Elapsed time in this process."""
        return elapsed_seconds()

    def now(self) -> datetime:
        """The store's time, kept by the monotonic clock since the claim."""
        return self.lease.claim.store_now + timedelta(seconds=elapsed_seconds() - self.lease.claimed_seconds)

    def is_mine(self) -> bool:
        """Does this worker surely still hold the lease?"""
        return not self.lease.is_lost and elapsed_seconds() < self.lease.until_seconds

    async def text(self, digest: str) -> str | None:
        """The stored text with this digest."""
        if digest not in self._texts:
            found = (await self.store.read_payloads([digest])).get(digest)
            if found is None:
                return None
            self._texts[digest] = found.decode("utf-8", "replace")
            while len(self._texts) > 32:
                del self._texts[next(iter(self._texts))]
        return self._texts[digest]

    def checked(self, tool: Tool, call: str, arguments: dict[str, Json]) -> dict[str, Json] | ToolError:
        """The arguments to run a tool with, or why they cannot be used. What was found to fit here is not looked at twice."""
        if self.fitting.pop(call, None) is arguments:
            return arguments
        return self.means.check_arguments(tool, arguments)

    def fits(self, call: str, arguments: dict[str, Json]) -> None:
        """Note that the arguments of a call fit its tool."""
        self.fitting[call] = arguments
        if len(self.fitting) > _MOST_FITTING:
            del self.fitting[next(iter(self.fitting))]

    def spending_of(self, call: str) -> Spending:
        """What the tool of an open call uses up, to be counted with those of all others that are open."""
        return self.spendings.setdefault(call, Spending())

    def spent_by_open(self, state: RunState) -> tuple[int, float]:
        """The tokens and US dollars that tools have used up for calls the journal does not count yet."""
        if self.present is not None:
            self.spendings = {call: spent for call, spent in self.spendings.items() if call in state.calls}
        spent = self.spendings.values()
        return sum(one.tokens for one in spent), sum(one.usd for one in spent)

    def keep(self, text: str) -> tuple[str, Item]:
        """The digest of a text and the item that stores it with this run."""
        digest = digest_of(text)
        self._texts[digest] = text
        return digest, PutPayload(self.run_id, digest, text.encode("utf-8"))

    async def put(self, content: bytes, digest: str) -> None:
        """Store content with this run at once."""
        await self.store.commit([PutPayload(self.run_id, digest, content)])

    def handed(self, context: ToolContext) -> ToolContext:
        """What a tool is given."""
        return context

    async def must_be_mine(self) -> None:
        """Raise Broken (`lease_lost`) unless this worker surely holds the lease; asked right before a `once` call.

        A lease that ran out while the machine slept is renewed first, where nobody has taken the run over.
        """
        if self.is_mine():
            return
        asked = elapsed_seconds()
        if self.run_id in await self.store.renew([self.lease.claim], self.lease.lease_seconds):
            self.lease.was_renewed(asked)
        else:
            self.lease.is_lost = True
        if not self.is_mine():
            detail = f"The lease on {self.run_id} was lost before a call that must not run twice."
            raise Broken("lease_lost", detail, NOTHING_TO_DO)
