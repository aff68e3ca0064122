"""Show a run: where it stands, its plan, what it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cyclopts import App

from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config, RunId
from outlast.cli.phrases import counted, dollars
from outlast.cli.printing import document, for_run, one_line, out
from outlast.cli.progress.board import Board
from outlast.cli.progress.waiting import waits_for
from outlast.cli.tables import aligned
from outlast.domain.ids import LOCAL_USER
from outlast.ports.store import Store
from outlast.service.show import show_run
from outlast.service.trace import trace_run

app = App(name="show")


@app.default
def show(run: RunId, /, *, config: Config = None, json: AsJson = False) -> int:
    """Show a run: where it stands, its plan and findings, what it waits for."""

    async def read(store: Store) -> tuple[dict[str, Any], list[str]]:
        shown = await show_run(store, run, LOCAL_USER)
        return shown, [] if json else await _waits(store, shown)

    shown, waits = with_store(config, read)
    if json:
        document(shown)
    else:
        out("\n".join(_lines(shown, waits)))
    return Exit.DONE


async def _waits(store: Store, shown: dict[str, Any]) -> list[str]:
    """What the run waits for; what a person is asked stands there whole, with the commands, as the journal has it."""
    waiting = shown["waiting_for"]
    others = [item for item in waiting if not item.startswith(("approval ", "answer "))]
    if len(others) == len(waiting):
        return others
    board = Board(shown["run_id"])
    for line in await trace_run(store, board.run_id):
        board.take(line)
    return [*waits_for(board), *others]


def _lines(shown: dict[str, Any], waits: list[str]) -> Iterator[str]:
    state = shown["state"] + (f" ({shown['outcome']})" if shown["outcome"] else "")
    spent = f"{counted(shown['steps'], 'step')}, {counted(shown['tokens'], 'token')}, {dollars(shown['cost_usd'])}"
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
    if waits:
        yield from ("", "waits for", *(f"  {line}" for line in waits))
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
                    dollars(part["cost_usd"]),
                )
                for part in parts
            ]
            yield from ("", title, *aligned(rows))
