"""Carrying a step out the way of a variant, so that nothing of it is left anywhere but in what it comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json
from outlast.domain.errors import ToolTrouble
from outlast.domain.events import AnyEvent, ModelRequested, PinnedTool
from outlast.domain.evolve import evolve
from outlast.domain.message import Message
from outlast.domain.recalled import Recalled
from outlast.domain.run import Call, RunState
from outlast.domain.tool_call import Effect
from outlast.ports.live import Frame
from outlast.ports.provider import ModelRequest, ToolSchema
from outlast.ports.tool import RunMemory, Tool, ToolContext
from outlast.runs.cache import Cache
from outlast.runs.desk import Desk
from outlast.runs.means import Variant
from outlast.runs.perform_model import perform_model
from outlast.runs.perform_tool import perform_tool
from outlast.runs.prompts.roles import exchanged_prompt


def shadow_of(call: str) -> str:
    """What a call of a model or tool is named by in a shadow, so that it is never taken for the run's own."""
    return f"{call}-shadow"


async def asked(
    desk: Desk,
    variant: Variant,
    state: RunState,
    intent: ModelRequested,
    request: ModelRequest,
    form: str | None,
    schema: Mapping[str, Json] | None,
) -> Sequence[AnyEvent]:
    """What the variant's model of a role comes to, asked what the run's own is asked. Its pieces are shown to nobody."""
    quiet = _QuietDesk.beside(desk, variant, tools=desk.means.tools)
    model = variant.definition.role(intent.role).option(0)
    messages, system = request.messages, request.messages[0]
    prompt = exchanged_prompt(system.text, intent.role, state.definition, variant.definition)
    if prompt != system.text:
        messages = (Message("system", prompt), *messages[1:])
    other = replace(
        request,
        call_id=shadow_of(intent.call),
        model=model.model,
        messages=messages,
        tools=_offered(request.tools, variant, intent.role),
        temperature=model.temperature,
        max_tokens=model.max_tokens,
    )
    renamed = replace(intent, call=other.call_id, model=model.model, option=0)
    under = evolve(state, definition=variant.definition)
    return (await perform_model(quiet, under, renamed, other, form, schema)).events


class Suppressed(Exception):
    """A call may not be carried out in a shadow, as it would have an effect; the text says which."""


async def called(
    desk: Desk, variant: Variant, state: RunState, call: Call, arguments: dict[str, Json]
) -> Sequence[AnyEvent]:
    """What a tool that only reads comes to under the variant, called with the same arguments; no hook is asked, no cache.

    Raises Suppressed for any other tool, and for one that may not run beside others.
    """
    _must_only_read(_pinned(variant).get(call.call.name))
    quiet = _QuietDesk.beside(desk, variant, tools=variant.means.tools)
    tools = {**state.tools, **_pinned(variant)}
    tools[call.call.name] = replace(tools[call.call.name], cache_seconds=0.0)
    under = evolve(state, definition=replace(variant.definition, hooks={}), tools=tools)
    renamed = evolve(call, call=replace(call.call, id=shadow_of(call.call.id), arguments=arguments))
    return (await perform_tool(quiet, under, renamed, None)).events


def _must_only_read(tool: PinnedTool | None) -> None:
    if tool is not None and tool.background is not None:
        raise Suppressed(f"{tool.name} begins work in the background.")
    if tool is not None and tool.effect is not Effect.READ:
        raise Suppressed(f"{tool.name} has the effect {tool.effect}.")
    if tool is not None and tool.exclusive_group is not None:
        raise Suppressed(
            f"{tool.name} is of the exclusive group {tool.exclusive_group} and runs beside nothing."
        )


def _pinned(variant: Variant) -> dict[str, PinnedTool]:
    return {tool.name: tool for tool in variant.means.pinned}


def _offered(tools: tuple[ToolSchema, ...], variant: Variant, role: str) -> tuple[ToolSchema, ...]:
    """The tools that are offered, of those the role may use under the variant."""
    settings = variant.definition.roles.get(role)
    allowed = settings.tools if settings is not None else None
    return tools if allowed is None else tuple(tool for tool in tools if tool.name in allowed)


@dataclass(slots=True)
class _QuietDesk(Desk):
    """A desk at which nothing is kept."""

    @classmethod
    def beside(cls, desk: Desk, variant: Variant, tools: Mapping[str, Tool]) -> _QuietDesk:
        """A desk for the variant of a step that is made at another one."""
        means = replace(variant.means, tools=tools, live=_Unheard(), indoors=None, office=None)
        return cls(
            desk.run_id, desk.user_id, desk.thread_id, desk.store, means, desk.lease, desk.ledger, Cache()
        )

    async def put(self, content: bytes, digest: str) -> None:
        """Nothing is stored."""

    def handed(self, context: ToolContext) -> ToolContext:
        """What a tool is given: memory can be asked and not be told anything."""
        memory = _Unremembering(context.memory) if context.memory is not None else None
        return replace(context, memory=memory, mates=None, background=None)


class _Unheard:
    """Pieces of a shadow's answers are shown to nobody."""

    def publish(self, frame: Frame) -> None:
        """Nothing."""


class _Unremembering:
    """Memory that can be asked."""

    def __init__(self, memory: RunMemory) -> None:
        self._memory = memory

    async def remember(self, text: str, replaces: Sequence[str]) -> str:
        raise ToolTrouble("not_remembered", "A shadow remembers nothing.", "Go on without it.")

    async def recall(self, query: str, limit: int) -> list[Recalled]:
        return await self._memory.recall(query, limit)

    async def read(self, memory_id: str) -> Recalled | None:
        return await self._memory.read(memory_id)
