"""Stories of people whom the server asks who they are: the way in, the way out, and nothing of anybody else's."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.command_line import Going, Home
from tests.e2e.page.conftest import Chromium
from tests.e2e.page.steps import begin
from tests.law import law

HELLO = '- {say: "Hello.", repeat: true}\n'


def guarded(home: Home) -> tuple[Going, str, str]:
    """A server that asks everybody who they are: where it listens, and the link it prints."""
    home.write("script.yaml", HELLO)
    going = home.start("serve", "--port", "0", "--set", "gateway.auth=token")
    address = going.until("Listening on").split()[2]
    return going, address, going.until("Sign in").split()[-1]


def token_of(home: Home, name: str) -> str:
    """A new token of a user."""
    secret: str = home.outlast("token", "create", "--user", name, "--json").document["token"]
    return secret


def sign_in(page: Page, token: str) -> None:
    """Enter a token."""
    page.get_by_role("heading", name="Who are you?").wait_for()
    page.get_by_label("Token", exact=True).fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="What should be done?").wait_for()


@law("DOOR-5.d")
def test_two_users_come_in_with_their_tokens_and_see_nothing_of_each_other(
    talking: Home, chromium: Chromium
) -> None:
    _, address, _ = guarded(talking)
    ann, bob = token_of(talking, "ann"), token_of(talking, "bob")
    with chromium.at(address) as hers, chromium.at(address) as his:
        sign_in(hers, ann)
        expect(hers.get_by_role("link", name="Settings")).to_have_count(0)
        begin(hers, "A secret of Ann's")
        hers.get_by_text("This run has ended.").wait_for()
        sign_in(his, bob)
        his.get_by_role("link", name="Runs").click()
        his.get_by_text("There are no runs here.").wait_for()
        his.goto(hers.url)
        his.get_by_role("alert").filter(has_text="unknown_run").wait_for()
        expect(his.get_by_text("A secret of Ann's")).to_have_count(0)
        hers.get_by_role("button", name="Sign out").click()
        sign_in(hers, bob)
        hers.get_by_role("link", name="Runs").click()
        hers.get_by_text("There are no runs here.").wait_for()


def test_the_link_of_the_terminal_signs_in_once_and_leaves_no_code_in_the_address(
    talking: Home, chromium: Chromium
) -> None:
    _, address, link = guarded(talking)
    path = link.removeprefix(address)
    with chromium.at(address, path) as page:
        page.get_by_text("Signed in as local").wait_for()
        assert "code" not in page.url
        begin(page, "Hi")
        page.get_by_text("This run has ended.").wait_for()
        page.goto(link)
        page.reload()
        page.get_by_text("Signed in as local").wait_for()
    with chromium.at(address, path) as other:
        other.get_by_role("heading", name="Who are you?").wait_for()
        other.get_by_role("alert").get_by_text("token_refused").wait_for()


def test_whoever_is_known_no_longer_is_asked_again_without_a_reload(
    talking: Home, chromium: Chromium
) -> None:
    _, address, _ = guarded(talking)
    with chromium.at(address) as page:
        sign_in(page, token_of(talking, "ann"))
        listed = talking.outlast("token", "list", "--json").document["tokens"]
        assert talking.outlast("token", "revoke", listed[0]["id"]).code == 0
        page.get_by_role("link", name="Runs").click()
        page.get_by_role("heading", name="Who are you?").wait_for()


def test_whoever_may_only_read_is_shown_all_and_offered_nothing_that_would_be_refused(
    talking: Home, chromium: Chromium
) -> None:
    _, address, _ = guarded(talking)
    talking.write(
        "tasks/gated.yaml",
        "task: {name: gated, workflow: chat, tools: [], approvals: [{on: 'EXECUTING->COMPLETED'}]}\n",
    )
    made = talking.outlast("token", "create", "--user", "ann", "--scope", "read", "--json").document
    with chromium.at(address) as hers, chromium.at(address) as reading:
        sign_in(hers, token_of(talking, "ann"))
        begin(hers, "Say hello", "gated")
        hers.get_by_role("button", name="Approve").wait_for()
        sign_in(reading, made["token"])
        note = reading.get_by_role("note").get_by_text("your token has no scope “write”")
        note.wait_for()
        expect(reading.get_by_label("Ask a question")).to_have_count(0)
        reading.goto(hers.url)
        reading.get_by_text("May the run go on").wait_for()
        note.wait_for()
        reading.get_by_role("tab", name="Timeline").click()
        reading.get_by_role("button", name="Hello.").click()
        reading.get_by_text("Everything the journal has").wait_for()
        for name in ("Approve", "Reject", "Pause", "Say something", "Limits", "Cancel the run", "Fork here"):
            expect(reading.get_by_role("button", name=name)).to_have_count(0)
        reading.get_by_role("link", name="Conversation").click()
        note.first.wait_for()
        expect(reading.get_by_role("button", name="Delete")).to_have_count(0)
        reading.goto(hers.url)
        hers.get_by_role("button", name="Approve").click()
        reading.get_by_text("This run has ended.").wait_for()
