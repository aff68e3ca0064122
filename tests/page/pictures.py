"""Pictures of the page for the docs, made from the research example: `python -m tests.page.pictures`. Look at each of them."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Locator, Page

from outlast.domain.ids import LOCAL_USER
from outlast.domain.notification import Notification
from tests.e2e.command_line import ROOT, Home
from tests.e2e.page.conftest import Chromium, opened_chromium
from tests.e2e.page.steps import put, served
from tests.unit.tasks.props import QUESTION, after, asking, completed, task, working

PICTURES: Final = ROOT / "docs" / "pictures"
LOOKS: Final[dict[str, dict[str, Any]]] = {
    f"{width}-{scheme}": {"viewport": size, "color_scheme": scheme}
    for width, size in {
        "wide": {"width": 960, "height": 640},
        "narrow": {"width": 390, "height": 640},
    }.items()
    for scheme in ("light", "dark")
}
CAREFUL: Final = """
task:
  name: careful
  description: The same, after a person has agreed to the plan
  workflow: research
  tools: [web_search, web_fetch, summarize, write_report]
  approvals: [{on: "PLANNING->EXECUTING"}]
"""
SHADOW: Final = (
    "--set",
    "shadow.steps=['tool:web_search', 'role:writer']",
    "--set",
    "shadow.variant.search.path=fewer",
)
TALK: Final = (
    "task: {name: talk, description: Talk about what was found, workflow: chat, tools: [web_search]}\n"
)


@dataclass(frozen=True)
class Shown:
    """What there is to be seen: a finished run and its thread, another run, and one that waits for a person."""

    run: str
    thread: str
    other: str
    waiting: str


@dataclass(frozen=True)
class View:
    """One picture: where it is, and what is done there first."""

    path: str
    before: Callable[[Page], object]
    has_banner: bool = True


def main(folder: Path) -> None:
    """Write every view in every look into a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with prepared() as home, opened_chromium() as chromium:
        shown = filled(home)
        _, address = served(home, "--workers", "0")
        for name, view in views(shown).items():
            take(chromium, address, name, view, folder)
        _, guarded = served(home, "--workers", "0", "--set", "gateway.auth=token")
        sign_in = View("/", lambda page: page.get_by_label("Token").wait_for(), has_banner=False)
        take(chromium, guarded, "sign-in", sign_in, folder)


def take(chromium: Chromium, address: str, name: str, view: View, folder: Path) -> None:
    """Write the pictures of a view."""
    for look, context in LOOKS.items():
        with chromium.at(address, view.path, **context) as page:
            view.before(page)
            if view.has_banner:
                page.locator("main [role=alert]").first.wait_for(state="attached")
            page.screenshot(path=folder / f"{name}-{look}.png", animations="disabled")


@contextmanager
def prepared() -> Iterator[Home]:
    """A copy of the research example, with two more tasks, and with fewer documents for a variant."""
    with tempfile.TemporaryDirectory(prefix="outlast-") as made:
        home = Home(Path(made))
        ignored = shutil.ignore_patterns(".outlast")
        shutil.copytree(ROOT / "examples/research", home.folder, dirs_exist_ok=True, ignore=ignored)
        fewer = shutil.ignore_patterns("*.pdf", "*.html")
        shutil.copytree(home.folder / "docs", home.folder / "fewer", ignore=fewer)
        home.write("tasks/careful.yaml", CAREFUL)
        home.write("tasks/talk.yaml", TALK)
        try:
            yield home
        finally:
            home.close()


def filled(home: Home) -> Shown:
    """Let there be runs and background tasks."""
    question = "How do tidal lagoons compare with offshore wind on cost and reliability?"
    ended = begun(home, "brief", question)
    other = begun(home, "brief", "What does electricity from tidal lagoons cost?", *SHADOW)
    waiting = begun(home, "careful", "How reliable is offshore wind in winter?")
    mine = {"user_id": LOCAL_USER, "run_id": ended["run_id"], "thread_id": ended["thread_id"]}
    put(home, after(task(task_id="k-1", remote_id="1", name="render-charts", **mine), working()).task)
    put(
        home,
        after(
            task(task_id="k-2", remote_id="2", name="book-survey-boat", **mine), asking(colour=QUESTION)
        ).task,
    )
    done = after(
        task(task_id="k-3", remote_id="3", name="fetch-tide-tables", **mine),
        completed("Tables of 12 harbours"),
    ).task
    put(home, replace(done, notification=Notification.DEAD_LETTER, notification_failures=5))
    return Shown(ended["run_id"], ended["thread_id"], other["run_id"], waiting["run_id"])


def begun(home: Home, name: str, question: str, *more: str) -> dict[str, Any]:
    """A run, as it stands once it has ended or waits."""
    document: dict[str, Any] = home.outlast(
        "run", "--task", name, "--input", question, "--json", *more
    ).document
    return document


def views(shown: Shown) -> dict[str, View]:
    """Every view by its name."""
    run = f"/runs/{shown.run}"
    return {
        "start": View("/", lambda page: composed(page, page.get_by_role("heading", name="Finished"))),
        "runs": View("/runs", headed("Runs")),
        "report": View(f"{run}?tab=report", lambda page: page.get_by_text("Download JSON").wait_for()),
        "source": View(f"{run}?tab=report", open_source),
        "plan": View(f"{run}?tab=plan", lambda page: page.get_by_text("Done when").first.wait_for()),
        "timeline": View(f"{run}?tab=timeline", open_model_call),
        "approval": View(
            f"/runs/{shown.waiting}", lambda page: page.get_by_role("button", name="Approve").wait_for()
        ),
        "conversation": View(
            f"/threads/{shown.thread}",
            lambda page: composed(page, page.get_by_role("button", name="Background tasks: 2")),
        ),
        "background-tasks": View(f"/threads/{shown.thread}", open_tasks),
        "compare": View(f"/compare/{shown.run}/{shown.other}", headed("Two runs compared")),
        "statistics": View("/stats", lambda page: page.get_by_text("By task").wait_for()),
        "shadow": View("/shadow", lambda page: page.get_by_role("cell", name="The variant").first.wait_for()),
        "memory": View("/memory", lambda page: page.get_by_role("article").first.wait_for()),
        "settings": View("/settings", lambda page: page.get_by_text("ask_human").wait_for()),
        "undelivered": View("/background-tasks", headed("Undelivered results")),
    }


def headed(text: str) -> Callable[[Page], object]:
    """Wait for a heading."""
    return lambda page: page.get_by_role("heading", name=text).wait_for()


def composed(page: Page, last: Locator) -> None:
    """Wait until something can be asked, and for what comes last."""
    page.get_by_label("Task", exact=True).locator("option").first.wait_for(state="attached")
    last.wait_for()


def open_source(page: Page) -> None:
    """Open the first source of a report, once the steps it was read in are there."""
    page.get_by_text("This run has ended.").wait_for()
    page.get_by_role("button", name="[S1]").first.click()
    page.get_by_text("The quote where it stands").wait_for()


def open_tasks(page: Page) -> None:
    """Open the sheet of background tasks, and one that has ended."""
    page.get_by_role("button", name="Background tasks:").click()
    page.get_by_role("dialog").get_by_role("button", name="fetch-tide-tables").click()
    page.get_by_role("dialog").get_by_text("Tables of 12 harbours").wait_for()


def open_model_call(page: Page) -> None:
    """Open a call of a model in the timeline, and what it saw."""
    page.get_by_text("This run has ended.").wait_for()
    page.get_by_label("Kind").select_option("models")
    row = page.locator("main ol li button[aria-expanded]").first
    row.click()
    page.get_by_text("What the model saw").first.click()
    page.get_by_role("list", name="What the model saw").wait_for()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
