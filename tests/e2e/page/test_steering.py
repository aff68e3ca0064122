"""Stories of people who steer a run at the page: words that stay, limits that change, what a model saw, what is remembered."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.e2e import over_http
from tests.e2e.command_line import Home
from tests.e2e.page.conftest import Chromium
from tests.e2e.page.steps import begin, served
from tests.law import law

ASKING = """
- {when: {turn: 0}, call: {tool: ask_human, arguments: {question: "Which side?"}}}
- {say: "The north side."}
"""


def test_what_is_pinned_is_before_the_model_and_limits_change_while_it_waits(
    talking: Home, chromium: Chromium
) -> None:
    talking.write("script.yaml", ASKING)
    _, address = served(talking)
    with chromium.at(address) as page:
        begin(page, "Look around")
        page.get_by_role("button", name="Say something").click()
        page.get_by_label("Tell the run something").fill("Only in daylight")
        page.get_by_label("Pin it").check()
        page.get_by_role("button", name="Send").click()
        page.get_by_role("button", name="Limits").click()
        form = page.get_by_role("form", name="Limits")
        expect(form.get_by_role("button")).to_be_disabled()
        form.get_by_label("Steps").fill("44")
        form.get_by_label("Cost in USD").fill("2.5")
        form.get_by_role("button", name="Change the limits").click()
        expect(form).to_have_count(0)
        page.get_by_label("Your answer").fill("Both")
        page.get_by_role("button", name="Answer", exact=True).click()
        page.get_by_text("This run has ended.").wait_for()
        page.get_by_role("tab", name="Timeline").click()
        page.get_by_role("button", name="The north side.").click()
        page.get_by_text("What the model saw").click()
        context = page.get_by_role("list", name="What the model saw")
        context.get_by_text("pinned by a person, which never leaves").click()
        expect(context.get_by_text("Only in daylight")).to_be_visible()
        run_id = page.url.split("?")[0].rpartition("/")[2]
    lines = over_http.get(f"{address}/api/runs/{run_id}/trace").json()["lines"]
    assert [line["data"]["pinned"] for line in lines if line["kind"] == "Said"] == [True]
    changed = [line["data"]["changes"] for line in lines if line["kind"] == "LimitsChanged"]
    assert changed == [{"max_steps": 44, "max_cost_usd": 2.5}]


def test_the_task_used_last_is_chosen_and_one_that_cannot_be_used_says_why(
    talking: Home, chromium: Chromium
) -> None:
    talking.write("script.yaml", '- {say: "Hello.", repeat: true}\n')
    talking.write("tasks/another.yaml", "task: {name: another, workflow: chat, tools: []}\n")
    talking.write("tasks/broken.yaml", "task: {name: broken, workflow: nowhere}\n")
    _, address = served(talking)
    with chromium.at(address) as page:
        expect(page.get_by_label("Task", exact=True)).to_have_value("another")
        page.get_by_role("list", name="Tasks that cannot be used").get_by_text("broken").wait_for()
        begin(page, "Hi", "talk")
        page.goto(address)
        expect(page.get_by_label("Task", exact=True)).to_have_value("talk")


@law("DOOR-2.i")
def test_what_is_remembered_is_looked_through_and_forgotten(library: Home, chromium: Chromium) -> None:
    done = library.outlast("run", "--task", "brief", "--input", "How do tidal lagoons compare?", "--json")
    assert done.code == 0
    _, address = served(library)
    with chromium.at(address, "/memory") as page:
        entries = page.get_by_role("article")
        entries.first.wait_for()
        known = entries.count()
        page.get_by_label("Search what is remembered").fill("tidal lagoons")
        entries.first.wait_for()
        page.get_by_label("Search what is remembered").fill("")
        expect(entries).to_have_count(known)
        page.on("dialog", lambda dialog: dialog.accept())
        entries.first.get_by_role("button", name="Forget").click()
        expect(entries).to_have_count(known - 1)
        page.get_by_role("link", name="Statistics").click()
        page.get_by_role("heading", name="Statistics").wait_for()
        page.get_by_role("cell", name="brief").wait_for()
