"""Which pages are made from the code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from outlast.wiring.pages import background_tasks, events, states, tools
from outlast.wiring.settings import page as settings

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "background-tasks.md": background_tasks.page,
    "events.md": events.page,
    "settings.md": settings.page,
    "states.md": states.page,
    "tools.md": tools.page,
}
"""The file names in docs/reference, and what makes them."""
