"""Stories of people who ask what runs used and how they went."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.e2e import over_http
from tests.e2e.command_line import Home
from tests.e2e.page.conftest import Chromium
from tests.e2e.page.steps import begin, served
from tests.law import law

SENDING = """
- {when: {turn: 0, contains: Nobody}, call: {tool: send, arguments: {body: "Hello"}}}
- {say: "Done.", repeat: true}
"""


@law("SEE-3.d")
def test_figures_lead_to_the_calls_that_failed_and_to_where_they_did(
    talking: Home, chromium: Chromium
) -> None:
    talking.write("script.yaml", SENDING)
    _, address = served(talking)
    with chromium.at(address) as page:
        begin(page, "Write to Nobody")
        page.get_by_text("This run has ended.").wait_for()
        page.get_by_role("link", name="Statistics").click()
        for name in ("By task", "By model", "By tool", "What failed of what"):
            page.get_by_role("region", name=name).wait_for()
        expect(page.get_by_text("Stopped loops").first).to_be_visible()
        page.get_by_role("button", name="Failed calls of send").click()
        sheet = page.get_by_role("dialog", name="Failed calls of send")
        sheet.get_by_text('"body": "Hello"').wait_for()
        sheet.get_by_text("invalid_arguments").wait_for()
        sheet.get_by_role("link", name="Where it happened").click()
        page.get_by_role("tab", name="Timeline", selected=True).wait_for()
        page.get_by_role("heading", name="Arguments").wait_for()
        page.get_by_role("tab", name="Cost").click()
        page.get_by_role("cell", name="chat").wait_for()


def test_the_cost_of_a_run_is_shown_by_role_and_by_subtask(library: Home, chromium: Chromium) -> None:
    asked = "How do tidal lagoons compare?"
    run = library.outlast("run", "--task", "brief", "--input", asked, "--json").document
    _, address = served(library)
    with chromium.at(address, f"/runs/{run['run_id']}?tab=cost") as page:
        for role in ("planner", "executor", "reviewer"):
            page.get_by_role("cell", name=role).wait_for()
        for subtask in run["plan"]:
            page.get_by_role("cell", name=subtask["question"]).wait_for()
    shown = library.outlast("show", run["run_id"]).out
    assert "used by role" in shown
    assert "used by subtask" in shown
    for parts in (run["spent"]["by_role"], run["spent"]["by_subtask"]):
        assert sum(part["tokens"] for part in parts) == run["tokens"]
        assert sum(part["steps"] for part in parts) == run["steps"]


@law("SEE-1.b")
def test_the_timeline_has_every_event_of_the_journal_in_its_place(talking: Home, chromium: Chromium) -> None:
    talking.write("script.yaml", SENDING)
    _, address = served(talking)
    with chromium.at(address) as page:
        begin(page, "Write to Nobody")
        page.get_by_text("This run has ended.").wait_for()
        page.get_by_role("tab", name="Timeline").click()
        page.get_by_label("Show bookkeeping").check()
        run_id = page.url.split("?")[0].rpartition("/")[2]
        lines = over_http.get(f"{address}/api/runs/{run_id}/trace").json()["lines"]
        page.get_by_text(f"{len(lines)} of {len(lines)} events").wait_for()
        rows = page.locator("main ol li[data-index]")
        shown = [rows.nth(index).get_attribute("aria-posinset") for index in range(rows.count())]
        assert shown[-1] == str(len(lines)), "the end is in sight"
        page.get_by_role("button", name="send").last.click()
        page.get_by_text("Everything the journal has").click()
        page.get_by_text('"code": "invalid_arguments"').first.wait_for()
