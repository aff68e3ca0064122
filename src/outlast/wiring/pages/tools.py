"""The page of the built-in tools, made from what the catalogue finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from outlast.domain.tool_call import Effect
from outlast.ports.tool import Tool
from outlast.wiring.discover import LATER, ToolCatalogue

_HEAD: Final = """\
# Built-in tools

Made from the code by `just docs`; do not edit.

A task names the tools it may use under `tools:`; the [guide to tools](../guides/tools.md) says how to write one. The effect
decides what happens after a crash. Times are in seconds and can be changed under `tools.NAME` of the [settings](settings.md).
"""


def page() -> str:
    """The page, in Markdown."""
    catalogue = ToolCatalogue()
    tools = catalogue.load(entry.name for entry in catalogue.list() if entry.origin == "built-in")
    rows = [
        f"| [`{name}`](#{name}) | `{tool.effect}` | {tool.timeout_seconds:g} | {_cache(tool)} |"
        for name, tool in tools.items()
    ]
    later = ", ".join(f"`{name}`" for name in sorted(LATER))
    return "\n".join(
        [
            _HEAD,
            "| tool | effect | timeout | cache |\n| --- | --- | --- | --- |",
            *rows,
            f"\nPlanned, and left out with a notice where a task names them: {later}.\n",
            *(part for tool in tools.values() for part in _section(tool)),
        ]
    )


def _section(tool: Tool) -> Iterator[str]:
    yield f"## {tool.name}\n\n{tool.description}\n\nArguments:\n"
    yield f"```json\n{json.dumps(dict(tool.input_schema), indent=2, ensure_ascii=False)}\n```\n"
    if tool.output_schema is not None:
        yield f"Result:\n\n```json\n{json.dumps(dict(tool.output_schema), indent=2, ensure_ascii=False)}\n```\n"


def _cache(tool: Tool) -> str:
    """How long a result may serve again; only those of tools that read do."""
    return f"{tool.cache_seconds:g}" if tool.effect is Effect.READ and tool.cache_seconds else "none"
