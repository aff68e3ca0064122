"""Code of a user's own that lets out what cannot even be put into words: it is told of all the same, and the run goes on or fails."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.commands import Command
from outlast.domain.errors import ToolTrouble
from outlast.domain.hooks import HookContext, Veto
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.runs.moves import enter
from tests.unit.runs.parts import ask_for, call, in_turn, say
from tests.unit.runs.props import once_tool
from tests.unit.runs.stage import staged

no_words: Any = None


class Wordless(Exception):
    """As of a class that gives its message to nobody."""

    def __str__(self) -> str:
        return no_words


class WordlessExit(SystemExit):
    """The same of what is no Exception."""

    __str__ = Wordless.__str__


class HalfMade(ToolTrouble):
    """An error of ours that never was made as one."""

    def __init__(self) -> None:
        """Nothing of what ours hold."""


class Unshowable:
    """What cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("not to be shown")


class OfItsOwn(BaseException):
    """What only its author knows of."""


def raising(error: BaseException) -> Callable[[HookContext], Veto | None]:
    def hook(context: HookContext) -> Veto | None:
        raise error

    return hook


def returning(found: Any) -> Callable[[HookContext], Veto | None]:
    def hook(context: HookContext) -> Veto | None:
        return found

    return hook


@pytest.mark.parametrize("point", ["before_tool", "after_tool"])
@pytest.mark.parametrize(
    ("hook", "told"),
    [
        (raising(Wordless()), "it raised Wordless: (its message cannot be read: TypeError)"),
        (raising(WordlessExit()), "it let out WordlessExit: (its message cannot be read: TypeError)"),
        (returning(Unshowable()), "it raised RuntimeError: not to be shown"),
        (returning(Veto(Unshowable())), "it raised RuntimeError: not to be shown"),  # type: ignore[arg-type]
    ],
)
async def test_a_hook_without_words_refuses(
    tmp_path: Path, hook: Callable[[HookContext], Veto | None], told: str, point: str
) -> None:
    async def works() -> object:
        return "done"

    model = in_turn(ask_for(call("works")), say("done"))
    points, works_once = {point: "guard"}, once_tool("works", works, effect="once")
    async with staged(tmp_path, model, works_once, hooks={"guard": hook}, hooks_of_task=points) as stage:
        run = await stage.play()
        [outcome] = await stage.outcomes(run)
        assert outcome.error is not None
        assert outcome.error.detail == f"The hook guard refused: {told}"
        assert (await stage.state(run)).outcome == "full"


async def test_a_tool_without_words_fails_by_its_name(tmp_path: Path) -> None:
    async def fails() -> object:
        raise Wordless

    model = in_turn(ask_for(call("fails")), say("done"))
    async with staged(tmp_path, model, once_tool("fails", fails, effect="once")) as stage:
        [outcome] = await stage.outcomes(await stage.play())
        assert outcome.error is not None
        assert outcome.error.detail.startswith("Wordless: (its message cannot be read: TypeError)")


async def test_a_tool_with_an_error_of_ours_that_it_made_without_us_fails_by_its_name(tmp_path: Path) -> None:
    async def fails() -> object:
        raise HalfMade

    model = in_turn(ask_for(call("fails")), say("done"))
    async with staged(tmp_path, model, once_tool("fails", fails, effect="idempotent")) as stage:
        [outcome] = await stage.outcomes(await stage.play())
        assert outcome.error is not None
        assert outcome.error.detail.startswith("HalfMade: (its message cannot be read: AttributeError)")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Wordless(), "Wordless: (its message cannot be read: TypeError)"),
        (WordlessExit(), "WordlessExit: (its message cannot be read: TypeError)"),
        (OfItsOwn("mine"), "OfItsOwn: mine"),
        (asyncio.CancelledError(), "CancelledError"),
        (GeneratorExit(), "GeneratorExit"),
    ],
)
async def test_a_workflow_that_lets_out_anything_fails_its_run(
    tmp_path: Path, error: BaseException, told: str
) -> None:
    def decide(state: RunState, now: datetime) -> Sequence[Command]:
        if state.state is State.INIT:
            return [enter(state, State.EXECUTING)]
        raise error

    async with staged(tmp_path, in_turn(say("x")), decide=decide) as stage:
        failure = (await stage.state(await stage.play())).failure
        assert failure is not None
        assert (failure.code, failure.detail) == ("workflow_failed", f"The workflow raised {told}")
