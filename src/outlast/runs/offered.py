"""Tools as models are offered them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from outlast.domain.by_identity import by_identity
from outlast.domain.events import PinnedTool
from outlast.domain.run import Branch, RunState
from outlast.ports.provider import ToolSchema

MOST_SCHEMAS: Final = 200
"""How many are kept, of tools that runs are pinned to alike."""

schema_of: Final[Callable[[PinnedTool], ToolSchema]] = by_identity(
    lambda tool: ToolSchema(tool.name, tool.description, tool.input_schema), MOST_SCHEMAS
)
"""A tool as a model is offered it: the same value for the same tool, so that what is made of it need not be made anew either."""

Offers = dict[tuple[str, ...], tuple[ToolSchema, ...]]

MOST_OFFERED: Final = 500
"""Of so many runs is kept what each of their conversations is offered."""


def _none_yet(_pinned: Mapping[str, PinnedTool]) -> Offers:
    return {}


_offers: Final = by_identity(_none_yet, MOST_OFFERED)


def offered(state: RunState, branch: Branch) -> tuple[ToolSchema, ...]:
    """The tools of a branch as its model is offered them: the same value as long as they are the same."""
    offers = _offers(state.tools)
    if branch.tools not in offers:
        offers[branch.tools] = tuple(
            [schema_of(state.tools[name]) for name in branch.tools if name in state.tools]
        )
    return offers[branch.tools]
