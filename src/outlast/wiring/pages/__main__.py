"""Writes the pages into a directory: `python -m outlast.wiring.pages docs/reference`."""

from __future__ import annotations

import sys
from pathlib import Path

from outlast.wiring.pages.written import PAGES


def write_pages(directory: Path) -> None:
    """Write every page, over those that are there."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (directory / name).write_text(page(), "utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
