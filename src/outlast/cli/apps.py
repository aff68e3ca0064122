"""The app that knows some of the commands; the others stay on disk."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from cyclopts import App, Parameter


def app_of(names: Iterable[str]) -> App:
    """An app with these commands, by the names of their files."""
    root = App(
        name="outlast",
        help_format="plaintext",
        default_parameter=Parameter(negative=(), show_default=False),
        version_flags=[],
    )
    for name in names:
        root.command(importlib.import_module(f"outlast.cli.commands.{name}").app)
    return root
