"""A browser, and a page that is open in it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from tests.page.building import node
from tests.patience import PATIENCE_SECONDS

WIDE: ViewportSize = {"width": 1200, "height": 800}

expect.set_options(timeout=PATIENCE_SECONDS * 1000)

_OWN = "import c from '@sparticuz/chromium'; console.log(JSON.stringify([await c.executablePath(), c.args]))"

_ALL_IN_ONE = {"--single-process", "--no-zygote"}
"""How its package would have it started, in one process: on some machines it then dies at the second page."""


@dataclass
class Sight:
    """What a page asked for, and what went wrong in it."""

    page: Page
    home: str
    troubles: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("console", lambda said: self._hear(said.type, said.text))
        self.page.on("request", lambda asked: self._see(asked.url))

    def _hear(self, kind: str, text: str) -> None:
        if kind == "error" and not text.startswith("Failed to load resource"):
            self.troubles.append(text)

    def _see(self, url: str) -> None:
        if urlsplit(url).scheme in ("http", "https") and not url.startswith(self.home):
            self.foreign.append(url)


class Chromium:
    """A browser, in which each page is somebody of their own."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    @contextmanager
    def at(self, address: str, path: str = "/", **context: object) -> Iterator[Page]:
        """A page that is open at a path of the server, with nothing kept of others. Errors in it fail the test."""
        made = self._browser.new_context(**{"viewport": WIDE, "locale": "en-GB", **context})  # type: ignore[arg-type]
        made.set_default_timeout(PATIENCE_SECONDS * 1000)
        try:
            page = made.new_page()
            sight = Sight(page, address)
            page.goto(f"{address}{path}")
            yield page
            assert not sight.troubles
            assert not sight.foreign, "the page asked somebody else"
        finally:
            made.close()


@contextmanager
def opened_chromium() -> Iterator[Chromium]:
    """Debian's Chromium where it is installed, else the one among the page's own packages."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    if found is None:
        found, arguments = json.loads(node(_OWN))
        arguments = [one for one in arguments if one not in _ALL_IN_ONE]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=arguments, timeout=PATIENCE_SECONDS * 1000
        )
        try:
            yield Chromium(browser)
        finally:
            browser.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    """A browser for the stories of a module."""
    with opened_chromium() as opened:
        yield opened
