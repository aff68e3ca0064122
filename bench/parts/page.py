"""The page: how much JavaScript its first view loads, and when a question can be asked on it."""

import gzip
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from bench.table import Row
from tests.e2e.command_line import Home
from tests.e2e.page.conftest import Chromium, opened_chromium
from tests.e2e.page.steps import served
from tests.page.building import SHIPPED

TURNS: Final = 7
MOST_MS: Final = 1_500
MOST_BYTES: Final = 250_000


def measure() -> Iterator[Row]:
    """A browser that keeps nothing opens the page of an idle server."""
    index = (SHIPPED / "index.html").read_text("utf-8")
    scripts = re.findall(r'(?:src|href)="/(assets/[^"]+\.js)"', index)
    weight = sum(len(gzip.compress((SHIPPED / name).read_bytes())) for name in scripts)
    yield Row("first view: JavaScript, gzipped", weight / 1000, "KB", at_most=MOST_BYTES / 1000)
    with tempfile.TemporaryDirectory() as made, opened_chromium() as chromium:
        home = Home(Path(made))
        home.write("outlast.yaml", "llm: {provider: offline}\n")
        home.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: []}\n")
        try:
            _, address = served(home, "--workers", "0")
            times = [opened_ms(chromium, address) for _ in range(TURNS + 1)][1:]
        finally:
            home.close()
    yield Row("first view: a question can be asked", median(times), "ms", at_most=MOST_MS)


def opened_ms(chromium: Chromium, address: str) -> float:
    """Milliseconds from the navigation until a task can be chosen and words be entered, in a browser that keeps nothing."""
    with chromium.at(address) as page:
        page.get_by_label("Task", exact=True).locator("option").first.wait_for(state="attached")
        found: float = page.evaluate("performance.now()")
        return found
