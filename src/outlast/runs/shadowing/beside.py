"""The shadowed steps of one run at work in one process: begun with the step, compared with it, told to the journal by and by."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, lot_of
from outlast.domain.errors import OutlastError
from outlast.domain.events import (
    AnyEvent,
    ModelAnswered,
    ModelFailed,
    ModelRequested,
    Recorded,
    RunForked,
    ShadowCompared,
    ToolAnswered,
)
from outlast.domain.run import Call, RunState
from outlast.domain.shadow import Selector, Verdict
from outlast.ports.provider import ModelRequest
from outlast.runs.contained import contained
from outlast.runs.desk import Desk
from outlast.runs.means import Shadow, Variant
from outlast.runs.shadowing.comparing import Step, compared
from outlast.runs.shadowing.late import append_late
from outlast.runs.shadowing.quiet import Suppressed, asked, called

STOP_SECONDS: Final = 2.0
"""How long shadowed steps that are given up may take to stop."""

STILL_SECONDS: Final = 5.0
"""By how much a step may be late before the process is to blame, and not the variant."""

Make = Callable[[Variant], Awaitable[Sequence[AnyEvent]]]

_log = logging.getLogger("outlast.shadow")


@dataclass(slots=True)
class Used:
    """What the shadowed steps of a run have used up."""

    tokens: int = 0
    usd: float = 0.0

    def add(self, event: ShadowCompared) -> None:
        """Count one more."""
        self.tokens += event.tokens
        self.usd += event.cost_usd or 0.0


def used_in(history: Sequence[Recorded]) -> Used:
    """What the shadowed steps in a journal have used up; those before a fork were its original's."""
    used = Used()
    for recorded in history:
        if isinstance(recorded.event, RunForked):
            used = Used()
        elif isinstance(recorded.event, ShadowCompared):
            used.add(recorded.event)
    return used


@dataclass(slots=True, eq=False)
class _Open:
    """A shadowed step at work, and what the step itself comes to: nothing where it was given up."""

    step: Step
    make: Make
    arguments: dict[str, Json]
    own: asyncio.Future[AnyEvent | None]
    only_prompts: bool = False


class Beside:
    """`Witness` of a run with shadowed steps. The run neither waits for them nor learns what they come to."""

    def __init__(self, desk: Desk, shadow: Shadow, used: Used) -> None:
        self._desk = desk
        self._shadow = shadow
        self._used = used
        self._room = asyncio.Semaphore(shadow.max_concurrent)
        self._building = asyncio.Lock()
        self._built: dict[bool, Variant | OutlastError] = {}
        self._open: dict[str, _Open] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ready: list[ShadowCompared] = []
        self._offered: list[ShadowCompared] = []
        self._given_up = "The worker stopped before it was through."

    def sees_model(
        self,
        state: RunState,
        intent: ModelRequested,
        request: ModelRequest,
        form: str | None,
        schema: Mapping[str, Json] | None,
    ) -> None:
        """Ask the variant's model too, where the call is chosen."""
        chosen = self._chosen(intent.call, lambda one: one.takes_model(intent.role, intent.model))
        if chosen is not None:
            self._begin(
                intent.call,
                chosen,
                lambda variant: asked(self._desk, variant, state, intent, request, form, schema),
            )

    def sees_tool(self, state: RunState, call: Call, arguments: dict[str, Json]) -> None:
        """Call the variant's tool too, where the call is chosen."""
        chosen = self._chosen(call.call.id, lambda one: one.takes_tool(call.call.name))
        if chosen is not None:
            self._begin(
                call.call.id,
                chosen,
                lambda variant: called(self._desk, variant, state, call, arguments),
                arguments,
            )

    def hears(self, call: str, events: Sequence[AnyEvent]) -> None:
        """Note what a shadowed step itself came to."""
        known = self._open.get(call)
        if known is not None and not known.own.done():
            known.own.set_result(next((event for event in events if _is_end_of(event, call)), None))

    def offers(self) -> Sequence[ShadowCompared]:
        """The comparisons that are complete."""
        self._offered, self._ready = self._ready, []
        return self._offered

    def was_taken(self, *, is_durable: bool) -> None:
        """Forget what is durable; offer anew what is not."""
        if not is_durable:
            self._ready[:0] = self._offered
        self._offered = []

    def leave(self, *, is_cancelled: bool) -> None:
        """Give up what waits for steps that are not made here any more; see the rest through, unless the run was cancelled."""
        for known in self._open.values():
            if not known.own.done():
                known.own.set_result(None)
        if is_cancelled:
            self._give_up("The run was cancelled.")
        self._shadow.afterwards.take_over(self._see_through)

    def _chosen(self, call: str, takes: Callable[[Selector], bool]) -> Selector | None:
        """The first selector that takes a step, where it falls into the share; the same after a crash."""
        chosen = next(filter(takes, self._shadow.selectors), None)
        return chosen if lot_of(f"{self._desk.run_id} {call}") < self._shadow.share else None

    def _begin(
        self, call: str, chosen: Selector, make: Make, arguments: dict[str, Json] | None = None
    ) -> None:
        step = Step(call, chosen, self._shadow.variant)
        own: asyncio.Future[AnyEvent | None] = asyncio.get_running_loop().create_future()
        known = self._open[call] = _Open(step, make, arguments or {}, own, chosen.kind == "prompt")
        task = asyncio.create_task(self._followed(known))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _followed(self, known: _Open) -> None:
        """Make one step the way of the variant and keep the comparison, whatever comes of it."""
        try:
            made = await self._made(known)
        except asyncio.CancelledError:
            made = known.step.ended(Verdict.UNCOMPARED, "given_up", self._given_up)
        except Exception as error:  # noqa: BLE001 - a mistake of ours in a comparison is no reason to lose it
            _log.exception("the shadow of %s in %s", known.step.call, self._desk.run_id)
            made = known.step.failed(error)
        self._open.pop(known.step.call, None)
        self._ready.append(made)

    async def _made(self, known: _Open) -> ShadowCompared:
        step = known.step
        async with self._room:
            if self._is_used_up():
                return step.ended(
                    Verdict.UNCOMPARED, "over_budget", "shadow.max_cost or shadow.max_tokens is used up."
                )
            began = self._desk.seconds()
            try:
                events = await contained(self._carried_out(known), self._shadow.timeout_seconds)
            except Suppressed as why:
                return step.suppressed(known.arguments, str(why))
            except Exception as error:  # noqa: BLE001 - whatever a variant raises is recorded, never raised into the run
                if isinstance(error, TimeoutError) and self._desk.seconds() - began > self._most_seconds:
                    return step.ended(Verdict.UNCOMPARED, "stood_still", "The process stood still meanwhile.")
                return step.failed(error)
            came = step.came(events)
            self._used.add(came)
        return compared(came, events, await known.own)

    async def _carried_out(self, known: _Open) -> Sequence[AnyEvent]:
        return await known.make(await self._variant(only_prompts=known.only_prompts))

    async def _variant(self, *, only_prompts: bool) -> Variant:
        """The variant, built once; what it lacks is told of every step."""
        async with self._building:
            if only_prompts not in self._built:
                try:
                    self._built[only_prompts] = await self._shadow.build(only_prompts=only_prompts)
                except OutlastError as error:
                    _log.warning("%s cannot be shadowed: %s: %s", self._desk.run_id, error.code, error.detail)
                    self._built[only_prompts] = error
        built = self._built[only_prompts]
        if isinstance(built, OutlastError):
            raise built
        return built

    @property
    def _most_seconds(self) -> float:
        """How long a step that is out of time may have taken, unless nothing went on in this process, as while a person is asked."""
        return self._shadow.timeout_seconds + STILL_SECONDS

    def _is_used_up(self) -> bool:
        most_usd, most_tokens = self._shadow.max_cost_usd, self._shadow.max_tokens
        is_paid = most_usd is not None and self._used.usd >= most_usd
        return is_paid or (most_tokens is not None and self._used.tokens >= most_tokens)

    def _give_up(self, why: str) -> None:
        self._given_up = why
        for task in self._tasks:
            task.cancel()

    async def _see_through(self, ending: asyncio.Event) -> None:
        """Wait for what is still at work, record it, and give the variant back. What is not through when all ends is given up."""
        await self._through(ending)
        try:
            await append_late(self._desk.store, self._desk.run_id, self._ready)
        except OutlastError as error:
            _log.warning("comparisons of %s are lost: %s", self._desk.run_id, error.detail)
        for built in self._built.values():
            if isinstance(built, Variant):
                await built.means.close()

    async def _through(self, ending: asyncio.Event) -> None:
        told = asyncio.create_task(ending.wait())
        while self._tasks and not told.done():
            await asyncio.wait([*self._tasks, told], return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        if self._tasks:
            self._give_up("The process ended before it was through.")
            await asyncio.wait(set(self._tasks), timeout=STOP_SECONDS)
        for known in self._open.values():  # not even begun when it was given up, or it would not stop
            self._ready.append(known.step.ended(Verdict.UNCOMPARED, "given_up", self._given_up))


def _is_end_of(event: AnyEvent, call: str) -> bool:
    return isinstance(event, ModelAnswered | ModelFailed | ToolAnswered) and event.call == call
