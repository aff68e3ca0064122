"""Figures over many runs as lines for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from outlast.cli.phrases import counted, dollars
from outlast.cli.tables import aligned

Row = dict[str, Any]
Column = tuple[str, Callable[[Row], str]]


def lines_of(found: Row, tool: str | None = None) -> list[str]:
    """The figures of a period; of one tool alone if it is named."""
    tables = _TABLES if tool is None else _TABLES_OF_A_TOOL
    if tool is not None:
        of_tool = [row for row in found["by_tool"] if row["tool"] == tool]
        reasons = [{"of": "tool", **reason} for row in of_tool for reason in row["failures"]]
        found = {**found, "by_tool": of_tool, "failures": reasons}
    lines = _total(found) if tool is None else [] if found["by_tool"] else [f"No run called the tool {tool}."]
    for name, columns in tables:
        if found[name]:
            rows = [tuple(cell(row) for _, cell in columns) for row in found[name]]
            lines += ["", *aligned(rows, [title for title, _ in columns])]
    return lines[1:] if lines[:1] == [""] else lines


def _total(found: Row) -> list[str]:
    total = found["total"]
    partial = f" ({total['partial']} partial)" if total["partial"] else ""
    went = (
        f"{total['completed']} completed{partial}, {total['failed']} failed, {total['cancelled']} cancelled"
    )
    used = f"{counted(total['steps'], 'step')}, {counted(total['tokens'], 'token')}, {dollars(total['cost_usd'])}"
    lines = [f"{counted(total['runs'], 'run')}: {went}; {used}, {_seconds(total)}"]
    if not found["is_whole"]:
        lines.append("There were more runs; these are the newest.")
    if total["tool_calls"]:
        lines.append(f"{counted(total['tool_calls'], 'tool call')}: {_succeeded(total)} succeeded")
    if total["structured_answers"]:
        count = counted(total["structured_answers"], "structured answer")
        lines.append(f"{count}: {_before(total)} fitted as they came, {_after(total)} after repair")
    if total["loop_steers"]:
        lines.append(f"loops: {total['loop_steers']} steered, {total['loop_stops']} stopped")
    return lines


def _of(name: str) -> Callable[[Row], str]:
    return lambda row: str(row[name])


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else "-"


def _succeeded(row: Row) -> str:
    calls, failed = ("tool_calls", "tool_failures") if "tool_calls" in row else ("calls", "failed")
    return _share(row[calls] - row[failed], row[calls])


def _before(row: Row) -> str:
    return _share(row["fit_before_repair"], row["structured_answers"])


def _after(row: Row) -> str:
    return _share(row["fit_after_repair"], row["structured_answers"])


def _seconds(row: Row) -> str:
    milliseconds = row["duration_ms"]
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds} ms"


def _cost(row: Row) -> str:
    return dollars(row["cost_usd"])


_OF_RUNS: Final[Sequence[Column]] = (
    ("RUNS", _of("runs")),
    ("COMPLETED", _of("completed")),
    ("FAILED", _of("failed")),
    ("STEPS", _of("steps")),
    ("TOKENS", _of("tokens")),
    ("COST", _cost),
    ("TIME", _seconds),
    ("TOOLS OK", _succeeded),
    ("LOOP STOPS", _of("loop_stops")),
    ("FIT BEFORE", _before),
    ("FIT AFTER", _after),
)
_OF_TOOLS: Final[Sequence[Column]] = (
    ("TOOL", _of("tool")),
    ("CALLS", _of("calls")),
    ("FAILED", _of("failed")),
    ("OK", _succeeded),
    ("CACHED", _of("cached")),
    ("TIME", _seconds),
)
_OF_MODELS: Final[Sequence[Column]] = (
    ("MODEL", _of("model")),
    ("CALLS", _of("calls")),
    ("FAILED", _of("failed")),
    ("TOKENS", _of("tokens")),
    ("COST", _cost),
    ("TIME", _seconds),
    ("FIT BEFORE", _before),
    ("FIT AFTER", _after),
)
_OF_FAILURES: Final[Sequence[Column]] = (
    ("OF", _of("of")),
    ("FAILED OF", _of("code")),
    ("COUNT", _of("count")),
)
_TABLES_OF_A_TOOL: Final = (("by_tool", _OF_TOOLS), ("failures", _OF_FAILURES))
_TABLES: Final = (
    ("by_task", (("TASK", _of("task")), *_OF_RUNS)),
    ("by_day", (("DAY", _of("day")), *_OF_RUNS)),
    ("by_model", _OF_MODELS),
    *_TABLES_OF_A_TOOL,
)
