"""One engine, open for as long as a command lasts: work on a run, ask the person, work on, and print what came of it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from outlast.cli.asking import Decision, ask_person, can_ask
from outlast.cli.exits import Exit, exit_code_of_state
from outlast.cli.foreground import work_through
from outlast.cli.garbage import collect_as_before, collect_rarely
from outlast.cli.leaving import leave
from outlast.cli.logs import configure_logs
from outlast.cli.printing import document, for_run, note, one_line
from outlast.cli.progress.board import Board
from outlast.cli.progress.display import display_for
from outlast.cli.progress.waiting import waits_for
from outlast.cli.results import print_result
from outlast.domain.errors import CallerMistake, Conflict, NotFound
from outlast.domain.ids import LOCAL_USER
from outlast.service.show import show_run
from outlast.service.workers import open_when_there
from outlast.wiring.engine import Engine
from outlast.wiring.loops import new_loop
from outlast.wiring.settings.overrides import Override, from_options

T = TypeVar("T")


class Sitting:
    """An open engine and the event loop it lives in. The loop stands still while the person is asked.

    `log_level` is what is logged where the configuration does not say. One that `waits_for_store` waits for a server that is away.
    Calls of models are recorded in the file `record`.
    """

    def __init__(
        self,
        config: str | None,
        sets: Iterable[str] = (),
        *,
        log_level: str = "INFO",
        waits_for_store: bool = False,
        record: Path | None = None,
    ) -> None:
        self.overrides: tuple[Override, ...] = tuple(from_options(sets))
        self.engine = Engine.from_config(config, overrides=self.overrides, record=record)
        self._runner = asyncio.Runner(loop_factory=new_loop)
        self._waits_for_store = waits_for_store
        self._thresholds = gc.get_threshold()
        self._log_level = self.engine.settings.logging.level or log_level

    def __enter__(self) -> Self:
        configure_logs(self._log_level)
        for notice in self.engine.settings.notices:
            note(notice)
        self._runner.__enter__()
        try:
            self.run(open_when_there(self.engine.open, note) if self._waits_for_store else self.engine.open())
            if self.engine.warning:
                note(self.engine.warning)
            self._thresholds = collect_rarely()
        except BaseException:
            leave(self._runner)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        collect_as_before(self._thresholds)
        try:
            self.run(self.engine.close())
        finally:
            leave(self._runner)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, done now."""
        return self._runner.run(work)

    def see_through(self, run_id: str, *, as_json: bool, prints: bool = True) -> Exit:
        """Work on a run until it rests and nobody is there to ask; print what came of it, if it `prints`; returns the exit code."""
        display = display_for(run_id)
        try:
            while self.run(work_through(self.engine, run_id, display)):
                if as_json or not can_ask() or not self.has_decided(run_id, display.board):
                    code = self.told(run_id, display.board, as_json=as_json, prints=prints)
                    self.remember(run_id)
                    return code
        except KeyboardInterrupt:
            note("")
        note(f"Interrupted; nothing is lost. Go on with: outlast resume {run_id}")
        return Exit.INTERRUPTED

    def remember(self, run_id: str) -> None:
        """Remember what a run found now that its result is shown; Ctrl-C leaves it to the next worker."""
        with suppress(KeyboardInterrupt):
            self.run(self.engine.remember(run_id))

    def told(self, run_id: str, board: Board | None = None, *, as_json: bool, prints: bool = True) -> Exit:
        """Print what a run came to, if it `prints`, and say what it waits for; returns the exit code."""
        shown = self.run(show_run(self.engine.store, run_id, LOCAL_USER))
        if as_json and prints:
            document(shown)
        elif prints:
            self.run(print_result(self.engine.store, shown))
        tell_next(shown, board)
        return exit_code_of_state(shown["state"])

    def has_decided(self, run_id: str, board: Board) -> bool:
        """Ask the person what the run waits for; has anything been decided?"""
        decision: Decision | None = ask_person(board)
        if decision is None:
            return False
        try:
            self.run(decision(self.engine, run_id))  # type: ignore[arg-type]
        except (Conflict, NotFound) as trouble:
            note(f"{trouble}")
        except CallerMistake as mistake:
            note(f"error: {mistake}")
        return True


def tell_next(shown: dict[str, Any], board: Board | None) -> None:
    """Say on stderr why a run is not done and what to type."""
    run_id, state, error = shown["run_id"], shown["state"], shown["error"]
    if state in ("FAILED", "CANCELLED") and error:
        note(f"{state}: {error['code']}: {error['detail']}")
        if board is not None and board.trouble and error["code"].startswith("model_"):
            note(f"  it said: {one_line(board.trouble)}")
        if error["next"]:
            note(f"  next: {for_run(error['next'], run_id)}")
    if state == "FAILED":
        note(f"  to try again from there: outlast resume {run_id}")
    if state == "PAUSED":
        note(f"{run_id} is paused. Go on with: outlast resume {run_id}")
    if state == "WAITING" and _waits_for_tasks(shown):
        note(
            f"{run_id} waits for {', '.join(shown['waiting_for'])}; it goes on by itself when that has ended."
        )
    elif state == "WAITING":
        note(f"{run_id} waits for a person:")
        for line in waits_for(board) if board is not None else shown["waiting_for"]:
            note(f"  {line}")
        note(f"then: outlast resume {run_id}")


def _waits_for_tasks(shown: dict[str, Any]) -> bool:
    """Does a waiting run need nobody, since it waits for background tasks alone?"""
    waiting = shown["waiting_for"]
    return bool(waiting) and all(item.startswith("background task") for item in waiting)
