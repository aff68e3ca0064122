"""Stories of background tasks at the page: seen, answered, cancelled, told again; and how often the page asks for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.ids import LOCAL_USER
from outlast.domain.notification import Notification
from outlast.tasks.desk import happen
from outlast.tasks.rules import Moment, TaskRules
from tests.e2e import over_http
from tests.e2e.command_line import Home
from tests.e2e.page.conftest import Chromium
from tests.e2e.page.steps import begin, now_in, put, served
from tests.law import law
from tests.mcp_peers.running import RunningPeer
from tests.unit.tasks.props import after, completed, task, working

JOBS = """
- when: {turn: 0, contains: Tidy}
  call:
    - {tool: jobs__confirm, arguments: {}}
    - {tool: jobs__slow, arguments: {seconds: 600, label: chart}}
- {when: {contains: Something happened to background work}, say: Noted.}
- {say: "It goes on.", repeat: true}
"""
TOLD = """
- {when: {contains: Something happened to background work}, say: The drawing is there.}
- {say: "It goes on.", repeat: true}
"""
LISTED = "**/background-tasks"


@pytest.fixture
def peer(home: Home) -> Iterator[RunningPeer]:
    """An MCP server with work of hours."""
    with RunningPeer(home.folder) as running:
        yield running


@law("DOOR-2.f", "TASK-5.e", "TASK-6.a")
def test_what_a_task_asks_is_answered_and_another_is_cancelled(
    home: Home, peer: RunningPeer, chromium: Chromium
) -> None:
    settings = {
        "llm": {"provider": "scripted", "script": "script.yaml"},
        "mcp_servers": {"jobs": {"url": peer.url}},
        "background_tasks": {"poll_interval_seconds": 0.1},
    }
    home.write("outlast.yaml", json.dumps(settings))
    home.write("script.yaml", JOBS)
    home.write("tasks/jobs.yaml", 'task: {name: jobs, workflow: chat, tools: ["jobs:*"]}\n')
    _, address = served(home)
    with chromium.at(address) as page:
        begin(page, "Tidy up", "jobs")
        page.get_by_role("button", name="Background tasks: 2").wait_for()
        page.get_by_role("button", name="1 to answer").click()
        sheet = page.get_by_role("dialog", name="Background tasks")
        form = sheet.locator("form")
        form.get_by_text("confirm").first.wait_for()
        form.get_by_role("checkbox").check()
        form.get_by_role("button", name="Answer").click()
        recent = sheet.get_by_role("region", name="Recent")
        recent.get_by_text("completed").wait_for()
        recent.get_by_role("button", name="confirm").click()
        recent.get_by_text("accept").wait_for()
        page.on("dialog", lambda dialog: dialog.accept())
        sheet.get_by_role("button", name="slow").click()
        sheet.get_by_role("button", name="Cancel the task").click()
        recent.get_by_text("cancelled").wait_for()
        expect(sheet.get_by_role("region", name="At work")).to_have_count(0)
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Background tasks: 0").wait_for()


@law("DOOR-2.g")
def test_tasks_are_asked_for_every_3_seconds_at_work_15_idle_and_never_hidden(
    talking: Home, chromium: Chromium
) -> None:
    talking.write("script.yaml", TOLD)
    run = talking.outlast("run", "--task", "talk", "--input", "Draw", "--json").document
    mine = {"user_id": LOCAL_USER, "thread_id": run["thread_id"], "run_id": run["run_id"]}
    put(talking, after(task(**mine), working()).task)
    _, address = served(talking, "--workers", "0")
    with chromium.at(address) as page:
        page.clock.install()
        page.goto(f"{address}/threads/{run['thread_id']}")
        page.get_by_role("button", name="Background tasks: 1").wait_for()
        page.clock.pause_at(page.evaluate("Date.now() + 1000"))
        with page.expect_response(LISTED):
            page.clock.run_for(3_000)
        page.wait_for_load_state("networkidle")
        asked = Asked(page)
        for _ in range(3):
            with page.expect_response(LISTED):
                page.clock.run_for(3_000)
        assert asked.count == 3
        look(page, "hidden")
        page.clock.run_for(60_000)
        assert asked.count == 3
        now_in(talking, ended)
        with page.expect_response(LISTED):
            look(page, "visible")
        drawn(page, page.get_by_role("button", name="Background tasks: 0"))
        page.clock.run_for(13_900)
        assert asked.count == 4
        with page.expect_response(LISTED):
            page.clock.run_for(1_200)


class Asked:
    """How often a page has asked for the tasks of a thread."""

    def __init__(self, page: Page) -> None:
        self.count = 0
        page.on("request", self._see)

    def _see(self, request: Any) -> None:
        self.count += "/api/threads/" in request.url and request.url.endswith("/background-tasks")


def drawn(page: Page, wanted: Locator) -> None:
    """Let a second of the page's time pass in small steps, until something is there."""
    for _ in range(100):
        page.clock.run_for(10)
        if wanted.is_visible():
            return
    expect(wanted).to_be_visible()


def look(page: Page, state: str) -> None:
    """Have the page be looked at, or not."""
    page.evaluate(
        """state => {
            Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
            window.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


async def ended(store: SqliteStore) -> None:
    """Let the other side say that the task is done."""
    await happen(store, "k-1", completed(), lambda task: TaskRules(), Moment(await store.now()))


@law("TASK-7.a", "DOOR-2.j")
def test_a_result_that_could_not_be_told_is_seen_on_every_page_and_told_again(
    talking: Home, chromium: Chromium
) -> None:
    talking.write("script.yaml", TOLD)
    run = talking.outlast("run", "--task", "talk", "--input", "Draw", "--json").document
    mine = {"user_id": LOCAL_USER, "thread_id": run["thread_id"], "run_id": run["run_id"]}
    done = after(task(**mine), completed("a drawing")).task
    put(talking, replace(done, notification=Notification.DEAD_LETTER))
    _, address = served(talking)
    with chromium.at(address, "/runs") as page:
        place = page.get_by_role("navigation", name="Places").get_by_role("link", name="Undelivered")
        expect(place).to_have_text("Undelivered1")
        page.get_by_role("alert").get_by_role("link", name="Look at them").click()
        page.get_by_role("heading", name="Undelivered results").wait_for()
        page.get_by_role("button", name="Send again").click()
        page.get_by_text("Everything was delivered.").wait_for()
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(place).to_have_text("Undelivered")
        page.goto(f"{address}/threads/{run['thread_id']}")
        page.get_by_text("The drawing is there.").wait_for()
    listed = over_http.get(f"{address}/api/background-tasks?status=dead_letter").json()
    assert listed == {"background_tasks": []}
