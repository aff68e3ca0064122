"""Tools as models are offered them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from outlast.domain.by_identity import by_identity
from outlast.domain.events import PinnedTool
from outlast.ports.provider import ToolSchema

MOST_SCHEMAS: Final = 200
"""How many are kept, of tools that runs are pinned to alike."""

schema_of: Final[Callable[[PinnedTool], ToolSchema]] = by_identity(
    lambda tool: ToolSchema(tool.name, tool.description, tool.input_schema), MOST_SCHEMAS
)
"""A tool as a model is offered it: the same value for the same tool, so that what is made of it need not be made anew either."""
