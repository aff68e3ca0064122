"""Numbers that a browser cannot hold reach people exactly, and what people agree to is what is done."""

import json
from pathlib import Path

import pytest

from outlast.gateway.exact import MOST_EXACT, exact_json
from outlast.tools import tool
from tests.unit.gateway.house import house_of

LONG = 7305811920034550123


@pytest.mark.parametrize("value", [0, True, MOST_EXACT, -MOST_EXACT, 1.5, 1e300, "7305811920034550123", None])
def test_what_a_browser_holds_exactly_stays_as_it_is(value: object) -> None:
    assert json.loads(exact_json({"a": [value, LONG]})) == {"a": [value, str(LONG)]}


@pytest.mark.parametrize("value", [MOST_EXACT + 1, -MOST_EXACT - 1, LONG, 10**299])
def test_longer_integers_are_texts_wherever_they_stand(value: int) -> None:
    assert json.loads(exact_json({"a": [{"b": value}], "c": (value,)})) == {
        "a": [{"b": str(value)}],
        "c": [str(value)],
    }


async def test_g01_09_a_long_id_is_shown_exactly_and_agreed_to_as_it_is(tmp_path: Path) -> None:
    """An edit of another field sends the id back as it was shown; the tool gets the number it was asked with."""
    sent: list[tuple[int, str]] = []

    @tool(effect="once")
    async def send(order: int, body: str) -> int:
        """Send about an order."""
        sent.append((order, body))
        return order

    asked = {"tool": "send", "arguments": {"order": LONG, "body": "hi"}}
    script = [{"when": {"turn": 0}, "call": asked}, {"say": "Sent."}]
    async with house_of(tmp_path, script, tools=[send]) as house:
        run_id = (await house.start("letters"))["run_id"]
        ticket = (await house.until(run_id, "WAITING"))["waiting_for"][0].split()[1].rstrip(":")
        edit = {"order": str(LONG), "body": "hello"}
        decided = await house.client.post(
            f"/api/approvals/{ticket}", json={"decision": "approve", "edit": edit}
        )
        assert decided.status_code in (200, 202), decided.text
        await house.until(run_id, "COMPLETED")
        assert sent == [(LONG, "hello")]
        lines = (await house.client.get(f"/api/runs/{run_id}/trace")).json()["lines"]
        streamed = [frame.data for frame in await house.all_events(run_id) if frame.id]
        for told in (lines, streamed):
            calls = [line for line in told if line["kind"] == "ToolRequested"]
            assert calls[0]["arguments"]["order"] == str(LONG)


async def test_another_text_of_digits_is_not_taken_for_a_number(tmp_path: Path) -> None:
    @tool(effect="once")
    async def send(order: int) -> int:
        """Send about an order."""
        return order

    script = [{"when": {"turn": 0}, "call": {"tool": "send", "arguments": {"order": LONG}}}, {"say": "Sent."}]
    async with house_of(tmp_path, script, tools=[send]) as house:
        run_id = (await house.start("letters"))["run_id"]
        ticket = (await house.until(run_id, "WAITING"))["waiting_for"][0].split()[1].rstrip(":")
        edit = {"order": str(LONG + 1)}
        refused = await house.client.post(
            f"/api/approvals/{ticket}", json={"decision": "approve", "edit": edit}
        )
        assert (refused.status_code, refused.json()["code"]) == (400, "bad_edit")
