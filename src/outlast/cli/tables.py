"""Rows in aligned columns, cut to the width there is. Wide characters count as two."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size

from outlast.cli.printing import visible

UNWATCHED_COLUMNS: Final = 160
"""The width where no terminal is there to tell its own."""


def columns_here() -> int:
    """How many columns a line may have: those of the terminal or of $COLUMNS, else 160."""
    return max(40, shutil.get_terminal_size((UNWATCHED_COLUMNS, 24)).columns)


def cut(text: str, columns: int) -> str:
    """`text` on one line of at most `columns` columns; a cut is marked by an ellipsis."""
    text = visible(text).replace("\n", " ")
    if cell_len(text) <= columns:
        return text
    return set_cell_size(text, max(0, columns - 1)).rstrip() + "…"


def padded(text: str, columns: int) -> str:
    """`text` cut or filled to exactly `columns` columns."""
    text = cut(text, columns)
    return text + " " * (columns - cell_len(text))


def aligned(rows: Iterable[Sequence[str]], heading: Sequence[str] = (), most: int = 40) -> list[str]:
    """Lines of the rows in columns; each column but the last has at most `most` columns, the last takes what is left."""
    table = [
        [" ".join(visible(cell).splitlines()) for cell in row]
        for row in ([heading, *rows] if heading else rows)
    ]
    if not table:
        return []
    widths = [min(most, max(cell_len(row[index]) for row in table)) for index in range(len(table[0]) - 1)]
    room = max(10, columns_here() - sum(widths) - 2 * len(widths))
    return [
        "  ".join(
            [*(padded(cell, width) for cell, width in zip(row, widths, strict=False)), cut(row[-1], room)]
        ).rstrip()
        for row in table
    ]
