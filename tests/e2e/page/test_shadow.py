"""The story of somebody who tries a change beside the real thing, and looks at what came of it."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.e2e.command_line import Home
from tests.e2e.page.conftest import Chromium
from tests.e2e.page.steps import served
from tests.law import law

ASKED = ("run", "--task", "brief", "--input", "How do tidal lagoons compare?", "--json")
STEPS = "shadow.steps=['tool:web_search', 'tool:write_report', 'role:writer']"
NARROW = {"viewport": {"width": 390, "height": 640}, "color_scheme": "dark"}


@law("DOOR-2.j", "SEE-4.d")
def test_what_variants_came_to_is_shown_and_leads_to_the_steps_that_differ(
    library: Home, chromium: Chromium
) -> None:
    _, address = served(library, "--workers", "0")
    with chromium.at(address) as page:
        page.get_by_role("link", name="Shadow").click()
        page.get_by_text("No run with a shadow began in this time.").wait_for()
        page.get_by_text('steps: ["role:writer"]').wait_for()
    library.write("other/wind.md", "# Wind\n\nOffshore wind costs less than it did.\n")
    library.outlast(*ASKED, "--set", STEPS, "--set", "shadow.variant.search.path=other")
    with chromium.at(address, "/shadow") as page:
        searches = page.get_by_role("region", name="tool:web_search")
        searches.get_by_role("cell", name="The variant").wait_for()
        expect(searches.get_by_text("Equal results")).to_be_visible()
        reports = page.get_by_role("region", name="tool:write_report")
        reports.get_by_role("cell", name="It would have had an effect").wait_for()
        searches.get_by_text("What differs in variant").click()
        searches.get_by_text('"path": "other"').wait_for()
        page.get_by_label("Task", exact=True).select_option("brief")
        searches.get_by_text("Steps that differ").click()
        searches.get_by_text("other").first.wait_for()
        searches.get_by_role("link", name="Where it happened").first.click()
        page.get_by_role("tab", name="Timeline", selected=True).wait_for()
        page.get_by_role("heading", name="Arguments").wait_for()
        page.get_by_label("Kind").select_option("shadow")
        page.get_by_text("tool:web_search · differs").first.wait_for()
        page.get_by_text("tool:write_report · not carried out").first.wait_for()
    with chromium.at(address, "/shadow", **NARROW) as page:
        page.get_by_label("Language").select_option("zh")
        page.get_by_role("heading", name="影子").wait_for()
        page.get_by_text("已比较的步骤").first.wait_for()
        page.get_by_role("region", name="role:writer").scroll_into_view_if_needed()
        wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        assert not wide, "nothing but tables scrolls sideways"
