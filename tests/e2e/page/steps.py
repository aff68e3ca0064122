"""What every story begins with."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.e2e.command_line import Going, Home


def served(home: Home, *words: str) -> tuple[Going, str]:
    """A server, and where it listens."""
    going = home.start("serve", "--port", "0", *words)
    return going, going.until("Listening on").split()[2]


def begin(page: Page, words: str, task: str = "talk") -> None:
    """Ask for something on the first page, and wait until its run is shown."""
    page.get_by_label("Ask a question").fill(words)
    page.get_by_label("Task", exact=True).select_option(task)
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("tab", name="Timeline").wait_for()
