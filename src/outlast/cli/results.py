"""What a run came to, on stdout: the report as Markdown, or the answer of a conversation."""

from __future__ import annotations

import re
import sys
from typing import Any, Final

from rich.console import Console
from rich.markdown import Markdown

from outlast.cli.printing import out, visible
from outlast.ports.store import Store
from outlast.service.reports.markdown import to_markdown
from outlast.service.show import run_report

_JUMP: Final = re.compile(r"\]\(#source-[a-z0-9]+\)")


async def print_result(store: Store, shown: dict[str, Any]) -> None:
    """Print the report or the answer of the run with this `show` document; nothing when it has neither."""
    if shown["report"] is not None:
        print_markdown(to_markdown(await run_report(store, shown["run_id"])))
    elif shown["answer"] is not None and shown["state"] == "COMPLETED":
        out(shown["answer"])


def print_markdown(text: str) -> None:
    """Print Markdown: as it is to a file or pipe, set for reading on a terminal."""
    if sys.stdout.isatty():
        # A jump within the page means nothing on a terminal; where other links lead is shown.
        Console().print(Markdown(_JUMP.sub("]", visible(text)), hyperlinks=False))
    else:
        out(text)
