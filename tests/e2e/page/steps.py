"""What every story begins with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from playwright.sync_api import Page

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.background import BackgroundTask
from outlast.ports.batch import Committed
from outlast.ports.task_rows import InsertTask
from outlast.tasks.codec import row_of
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


def now_in(home: Home, doing: Callable[[SqliteStore], Awaitable[None]]) -> None:
    """Have something done with the store of a home; a browser has the loop of this thread."""

    async def act() -> None:
        store = SqliteStore(home.folder / ".outlast/outlast.db")
        await store.open()
        try:
            await doing(store)
        finally:
            await store.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(act())).result()


def put(home: Home, found: BackgroundTask) -> None:
    """Have the store of a home know a task."""

    async def insert(store: SqliteStore) -> None:
        assert isinstance(await store.commit([InsertTask(row_of(found))]), Committed)

    now_in(home, insert)
