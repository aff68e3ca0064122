"""A conversation at the terminal or over a pipe: each line is a run of one thread, its words appear as they come."""

from __future__ import annotations

import asyncio
import sys

from outlast.cli.asking import can_ask
from outlast.cli.exits import Exit, exit_code_of_state
from outlast.cli.foreground import work_through
from outlast.cli.phrases import Line, phrase
from outlast.cli.printing import json_line, note, out, visible
from outlast.cli.progress.board import Board
from outlast.cli.sitting import Sitting, tell_next
from outlast.domain.ids import LOCAL_USER
from outlast.domain.run import MAIN_BRANCH
from outlast.ports.live import Frame
from outlast.service import signals
from outlast.service.show import show_run
from outlast.service.start import Strategy
from outlast.wiring.engine import Request


class Speech:
    """The display of a conversation: the model's words on stdout as they come, what it does meanwhile on stderr."""

    def __init__(self, board: Board, *, is_shown: bool) -> None:
        self.board = board
        self.is_shown = is_shown
        self.words = ""

    def hear(self, frame: Frame) -> None:
        """A piece of an answer came."""
        if frame.branch == MAIN_BRANCH and frame.text:
            self.words += frame.text
            if self.is_shown:
                sys.stdout.write(visible(frame.text))
                sys.stdout.flush()

    def begin(self, position: int) -> None:
        """Nothing to draw."""

    def take(self, line: Line) -> None:
        """Something is done meanwhile."""
        self.board.take(line)
        if line["kind"] in ("ToolRequested", "ModelFailed", "LimitReached"):
            note(f"  [{phrase(line)[:100]}]")

    def tick(self) -> None:
        """Nothing moves."""

    def say(self, text: str) -> None:
        """Tell the person something."""
        note(text)

    def end(self) -> None:
        """Nothing to leave."""


class Conversation:
    """The runs of one thread, one a line."""

    def __init__(
        self,
        sitting: Sitting,
        task: str,
        thread_id: str | None,
        when_busy: Strategy = "reject",
        *,
        as_json: bool,
    ) -> None:
        self._sitting = sitting
        self._task = task
        self._when_busy = when_busy
        self._as_json = as_json
        self.thread_id = thread_id
        self._remarked: set[str] = set()

    def turn(self, words: str) -> Exit:
        """Say something and hear the answer out. Raises what beginning and taking up a run raise."""
        engine = self._sitting.engine
        request = Request(
            task=self._task,
            input=words,
            thread_id=self.thread_id,
            overrides=self._sitting.overrides,
            is_claimed_here=True,
            strategy=self._when_busy,
        )
        begun = self._sitting.run(engine.begin(request, self._remark))
        self.thread_id = begun.thread_id
        if begun.behind is not None:
            note(f"[waits for {begun.behind} of this thread to end]")
        speech = Speech(Board(begun.run_id), is_shown=not self._as_json)
        engine.live.join(begun.run_id, speech.hear)
        try:
            self._heard_out(begun.run_id, speech)
        finally:
            engine.live.leave(begun.run_id, speech.hear)
        code = self._told(begun.run_id, speech)
        self._sitting.remember(begun.run_id)
        return code

    def _remark(self, text: str) -> None:
        """Tell of something once in a conversation: the next turn would say it again."""
        if text not in self._remarked:
            self._remarked.add(text)
            note(text)

    def _heard_out(self, run_id: str, speech: Speech) -> None:
        """Work on the run, and ask the person what it asks. Ctrl-C ends the run: the next line begins another."""
        engine = self._sitting.engine
        ending: set[asyncio.Task[object]] = set()

        def end() -> None:
            ending.add(asyncio.ensure_future(signals.cancel(engine.store, run_id, LOCAL_USER, "stopped")))

        while self._sitting.run(work_through(engine, run_id, speech, end)):
            if self._as_json or not can_ask() or not self._sitting.has_decided(run_id, speech.board):
                return

    def _told(self, run_id: str, speech: Speech) -> Exit:
        shown = self._sitting.run(show_run(self._sitting.engine.store, run_id, LOCAL_USER))
        answer = shown["answer"] or ""
        if self._as_json:
            json_line(shown)
        elif speech.words and speech.words.rstrip().endswith(answer.rstrip()):
            out("")
        else:
            out(f"\n{answer}" if speech.words else answer)
        if shown["state"] == "CANCELLED":
            note("Stopped.")
        else:
            tell_next(shown, speech.board)
        return exit_code_of_state(shown["state"])
