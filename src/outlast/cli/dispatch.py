"""Finds the command that was named, reads its options, carries it out, and tells what goes wrong."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from cyclopts import App, CycloptsError

from outlast.cli.apps import app_of
from outlast.cli.exits import Exit, pipe_closed, tell_error, told, told_surprise
from outlast.cli.listing import command_names
from outlast.cli.printing import note, prepare_streams
from outlast.domain.door import clean_text
from outlast.domain.errors import OutlastError


def dispatch(tokens: list[str]) -> int:
    """Carry out the command in `tokens`; returns the exit code."""
    prepare_streams()
    shows_traceback, tokens = _without_debug(tokens)
    as_json = "--json" in tokens
    name = tokens[0] if tokens else ""
    if name not in command_names():
        near = difflib.get_close_matches(name, command_names(), n=1)
        guess = f" Did you mean {near[0]}?" if near else ""
        detail = f"There is no command {name!r}.{guess}"
        tell_error("usage", detail, "`outlast --help` lists all commands.", as_json=as_json)
        return Exit.USAGE
    try:
        return _carried_out(app_of([name]), tokens, as_json=as_json)
    except OutlastError as error:
        return told(error, as_json=as_json)
    except KeyboardInterrupt:
        note("Interrupted.")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        return pipe_closed()
    except Exception as error:  # noqa: BLE001 - the last door: a person gets a sentence, not a traceback
        return told_surprise(error, as_json=as_json, shows_traceback=shows_traceback)


def _carried_out(app: App, tokens: list[str], *, as_json: bool) -> int:
    try:
        command, bound, _ = app.parse_args(tokens, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        detail = " ".join(str(error).split())
        tell_error("usage", detail, f"See `outlast {_path(app, tokens)} --help`.", as_json=as_json)
        return Exit.USAGE
    run: Callable[..., Any] = command
    code = run(*map(_valid, bound.args), **{name: _valid(value) for name, value in bound.kwargs.items()})
    return code if isinstance(code, int) else Exit.DONE


def _valid(value: object) -> object:
    """A value as typed, its text made valid: bytes that are no text name nothing there is. Paths keep theirs."""
    if isinstance(value, str):
        return clean_text(value)
    return [_valid(item) for item in value] if isinstance(value, list) else value


def _path(app: App, tokens: list[str]) -> str:
    """The command as far as the tokens name it: `run`, or `config show`."""
    words, at = [], app
    for token in tokens[:2]:
        if token not in at:
            break
        words.append(token)
        at = at[token]
    return " ".join(words)


def _without_debug(tokens: list[str]) -> tuple[bool, list[str]]:
    own = tokens[: tokens.index("--")] if "--" in tokens else tokens
    if "--debug" not in own:
        return False, tokens
    return True, [word for word in own if word != "--debug"] + tokens[len(own) :]
