"""Show a run: where it stands, its plan, what it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cyclopts import App

from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config, RunId
from outlast.cli.phrases import counted
from outlast.cli.printing import document, for_run, one_line, out
from outlast.cli.tables import aligned, columns_here, cut
from outlast.domain.ids import LOCAL_USER
from outlast.service.show import show_run

app = App(name="show")


@app.default
def show(run: RunId, /, *, config: Config = None, json: AsJson = False) -> int:
    """Show a run: where it stands, its plan and findings, what it waits for."""
    shown = with_store(config, lambda store: show_run(store, run, LOCAL_USER))
    if json:
        document(shown)
    else:
        out("\n".join(_lines(shown)))
    return Exit.DONE


def _lines(shown: dict[str, Any]) -> Iterator[str]:
    state = shown["state"] + (f" ({shown['outcome']})" if shown["outcome"] else "")
    spent = (
        f"{counted(shown['steps'], 'step')}, {counted(shown['tokens'], 'token')}, ${shown['cost_usd']:.4f}"
    )
    facts = [
        ("run", shown["run_id"]),
        ("thread", shown["thread_id"]),
        ("task", shown["task"]),
        ("state", state),
        ("input", shown["input"]),
        ("used", spent),
        ("started", shown["started_at"]),
        ("ended", shown["ended_at"] or "-"),
    ]
    yield from aligned(facts)
    yield from _trouble(shown)
    yield from _plan(shown)
    yield from _spent(shown["spent"])
    if shown["report"] is not None:
        yield from (
            "",
            "report",
            f"  {one_line(shown['report']['title'])}",
            f"  outlast report {shown['run_id']}",
        )
    if shown["answer"]:
        yield from ("", "answer", *(f"  {line}" for line in shown["answer"].splitlines()))


def _trouble(shown: dict[str, Any]) -> Iterator[str]:
    if shown["waiting_for"]:
        yield from ("", "waits for", *(f"  {cut(item, columns_here() - 2)}" for item in shown["waiting_for"]))
    error = shown["error"]
    if error:
        yield from ("", "error", f"  {error['code']}: {one_line(error['detail'])}")
        if error["next"]:
            yield f"  next: {for_run(error['next'], shown['run_id'])}"


def _plan(shown: dict[str, Any]) -> Iterator[str]:
    if not shown["plan"]:
        return
    yield from ("", "plan")
    rows = [
        (
            f"  {planned['id']}",
            worked["state"],
            counted(len(worked["conclusions"]), "finding"),
            planned["question"],
        )
        for planned, worked in zip(shown["plan"], shown["subtasks"], strict=True)
    ]
    yield from aligned(rows)


def _spent(spent: dict[str, Any]) -> Iterator[str]:
    """What each role used, and what went into each subtask; nothing that the line above says already."""
    for title, parts, name in (
        ("used by role", spent["by_role"], "role"),
        ("used by subtask", spent["by_subtask"], "subtask"),
    ):
        if len(parts) > 1:
            rows = [
                (
                    f"  {part[name] or '(none)'}",
                    counted(part["steps"], "step"),
                    counted(part["tokens"], "token"),
                    f"${part['cost_usd']:.4f}",
                )
                for part in parts
            ]
            yield from ("", title, *aligned(rows))
