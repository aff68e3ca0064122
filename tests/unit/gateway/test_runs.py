"""Runs over HTTP: started, listed, seen, steered."""

import asyncio
from pathlib import Path

from outlast.gateway.shapes.context import ContextDocument
from outlast.tools import tool
from tests.law import law
from tests.unit.gateway.house import house_of


@tool(effect="once")
async def send(to: str, body: str) -> str:
    """Send a letter."""
    return f"sent {body} to {to}"


async def test_run_is_started_worked_on_and_shown(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        started = await house.start("talk", "Hello")
        assert (started["task"], started["input"]) == ("talk", "Hello")
        ended = await house.until(started["run_id"], "COMPLETED")
        assert ended["answer"] == "Done."
        listed = (await house.client.get("/api/runs", params={"state": "COMPLETED"})).json()["runs"]
        assert [one["run_id"] for one in listed] == [started["run_id"]]
        assert "plan" not in listed[0]


@law("DOOR-1.c")
async def test_g11_08_the_same_request_with_one_key_finds_the_same_run(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0) as house:
        body, headers = {"task": "talk", "input": "Once"}, {"Idempotency-Key": "k-1"}
        posts = [house.client.post("/api/runs", json=body, headers=headers) for _ in range(2)]
        first, again = await asyncio.gather(*posts)
        assert first.json()["run_id"] == again.json()["run_id"]
        assert (first.status_code, again.status_code) == (202, 202)
        other = await house.client.post("/api/runs", json={**body, "task": "ask"}, headers=headers)
        assert (other.status_code, other.json()["code"]) == (409, "key_used")
        strange = await house.client.post("/api/runs", json=body, headers={"Idempotency-Key": "a b"})
        assert (strange.status_code, strange.json()["code"]) == (400, "bad_key")


@law("DOOR-1.d")
async def test_g11_08_the_second_run_of_a_busy_thread_is_refused_and_says_which_is_in_the_way(
    tmp_path: Path,
) -> None:
    async with house_of(tmp_path, workers=0) as house:
        thread = (await house.client.post("/api/threads", json={"title": "Ours"})).json()["thread_id"]
        path, body = f"/api/threads/{thread}/runs", {"task": "talk", "input": "One"}
        posts = [house.client.post(path, json={**body, "input": words}) for words in ("One", "Two")]
        first, second = sorted(await asyncio.gather(*posts), key=lambda answer: answer.status_code)
        assert first.status_code == 202
        assert (second.status_code, second.json()["code"]) == (409, "thread_busy")
        assert first.json()["run_id"] in second.text
        await house.client.post(f"/api/runs/{first.json()['run_id']}/cancel")


async def test_questions_are_answered_and_words_reach_the_run(tmp_path: Path) -> None:
    script = [
        {"when": {"turn": 0}, "call": {"tool": "ask_human", "arguments": {"question": "Which colour?"}}},
        {"say": "Blue it is."},
    ]
    async with house_of(tmp_path, script) as house:
        run_id = (await house.start("ask"))["run_id"]
        waiting = await house.until(run_id, "WAITING")
        assert "Which colour?" in waiting["waiting_for"][0]
        answered = await house.client.post(f"/api/runs/{run_id}/answer", json={"text": "blue"})
        assert answered.status_code in (200, 202)
        assert (await house.until(run_id, "COMPLETED"))["answer"] == "Blue it is."
        late = await house.client.post(f"/api/runs/{run_id}/say", json={"text": "wait"})
        assert (late.status_code, late.json()["code"]) == (409, "run_ended")


async def test_ticket_is_decided_by_its_name_with_other_arguments(tmp_path: Path) -> None:
    call = {"tool": "send", "arguments": {"to": "Ann", "body": "hi"}}
    script = [{"when": {"turn": 0}, "call": call}, {"say": "Sent."}]
    async with house_of(tmp_path, script, tools=[send]) as house:
        run_id = (await house.start("letters"))["run_id"]
        waiting = await house.until(run_id, "WAITING")
        ticket = waiting["waiting_for"][0].split()[1].rstrip(":")
        wrong = await house.client.post(
            f"/api/approvals/{ticket}", json={"decision": "approve", "edit": {"to": 5}}
        )
        assert (wrong.status_code, wrong.json()["code"]) == (400, "bad_edit")
        edit = {"to": "Bob", "body": "hello"}
        decided = await house.client.post(
            f"/api/approvals/{ticket}", json={"decision": "approve", "edit": edit}
        )
        assert decided.status_code in (200, 202)
        await house.until(run_id, "COMPLETED")
        lines = (await house.client.get(f"/api/runs/{run_id}/trace")).json()["lines"]
        assert [line["result"] for line in lines if line["kind"] == "ToolAnswered"] == ["sent hello to Bob"]
        again = await house.client.post(
            f"/api/approvals/{ticket}", json={"decision": "reject", "run_id": run_id}
        )
        assert again.status_code == 409
        unknown = await house.client.post("/api/approvals/azzzzzzzz", json={"decision": "reject"})
        assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_ticket")


async def test_run_is_paused_its_limits_changed_and_resumed(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        run_id = (await house.start("gated"))["run_id"]
        await house.until(run_id, "WAITING")
        await house.client.post(f"/api/runs/{run_id}/pause")
        await house.until(run_id, "PAUSED")
        changed = await house.client.post(f"/api/runs/{run_id}/limits", json={"limits": {"max_steps": 3}})
        assert changed.status_code == 202
        wrong = await house.client.post(f"/api/runs/{run_id}/limits", json={"limits": {"max_sleep": 3}})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "unknown_limit")
        await house.client.post(f"/api/runs/{run_id}/resume")
        await house.until(run_id, "WAITING")
        await house.client.post(f"/api/runs/{run_id}/cancel", json={"reason": "enough"})
        await house.until(run_id, "CANCELLED")


async def test_fork_goes_on_from_an_event_in_a_thread_of_its_own(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        first = await house.start()
        await house.until(first["run_id"], "COMPLETED")
        made = await house.client.post(f"/api/runs/{first['run_id']}/fork", json={"at": 2})
        forked = made.json()
        assert forked["thread_id"] != first["thread_id"]
        await house.until(forked["run_id"], "COMPLETED")
        wrong = await house.client.post(f"/api/runs/{first['run_id']}/fork", json={"at": 999})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "bad_position")


async def test_thread_is_shown_with_its_words_and_deleted_with_its_runs(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        run = await house.start("gated", "Hello")
        path = f"/api/threads/{run['thread_id']}"
        await house.until(run["run_id"], "WAITING")
        shown = (await house.client.get(path)).json()
        assert (shown["title"], shown["messages"][0]["text"]) == ("Hello", "Hello")
        assert shown["unfinished"] == [run["run_id"]]
        assert (await house.client.delete(path)).status_code == 204
        assert (await house.client.get(path)).status_code == 404
        assert (await house.client.get(f"/api/runs/{run['run_id']}")).status_code == 404
        assert (await house.client.get("/api/threads")).json() == {"threads": []}


async def test_g11_08_run_of_a_busy_thread_waits_its_turn_or_interrupts_as_it_wishes(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        first = await house.start("gated", "One")
        await house.until(first["run_id"], "WAITING")
        path = f"/api/threads/{first['thread_id']}/runs"
        second = await house.client.post(
            path, json={"task": "talk", "input": "Two", "multitask_strategy": "enqueue"}
        )
        assert (second.status_code, second.json()["state"]) == (202, "INIT")
        third = await house.client.post(
            path, json={"task": "talk", "input": "Three", "multitask_strategy": "interrupt"}
        )
        await house.until(first["run_id"], "CANCELLED")
        for queued in (second, third):
            await house.until(queued.json()["run_id"], "COMPLETED")
        shown = (await house.client.get(f"/api/threads/{first['thread_id']}")).json()
        assert [said["text"] for said in shown["messages"] if said["speaker"] == "user"] == [
            "One",
            "Two",
            "Three",
        ]


async def test_run_that_continues_another_takes_its_task_and_input_where_none_are_given(
    tmp_path: Path,
) -> None:
    async with house_of(tmp_path) as house:
        first = await house.start("talk", "Hello")
        await house.until(first["run_id"], "COMPLETED")
        again = await house.client.post("/api/runs", json={"continues": first["run_id"]})
        assert again.status_code in (200, 202), again.text
        assert (again.json()["task"], again.json()["input"]) == ("talk", "Hello")
        lost = await house.client.post("/api/runs", json={"continues": "r-0000000000000000"})
        assert (lost.status_code, lost.json()["code"]) == (404, "unknown_run")
        nothing = await house.client.post("/api/runs", json={"input": "Hello"})
        assert (nothing.status_code, nothing.json()["code"]) == (422, "invalid_request")


async def test_trace_comes_in_pages_that_fit_together(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        run_id = (await house.start())["run_id"]
        await house.until(run_id, "COMPLETED")
        whole = (await house.client.get(f"/api/runs/{run_id}/trace")).json()
        assert whole["next"] is None
        pieces, after = [], 0
        while after is not None:
            page = (await house.client.get(f"/api/runs/{run_id}/trace?after={after}&limit=2")).json()
            pieces, after = pieces + page["lines"], page["next"]
        assert pieces == whole["lines"]
        assert [line["seq"] for line in pieces] == list(range(1, len(pieces) + 1))


async def test_what_is_pinned_reaches_the_run_and_its_context_says_so(tmp_path: Path) -> None:
    script = [
        {"when": {"turn": 0}, "call": {"tool": "ask_human", "arguments": {"question": "Which?"}}},
        {"say": "So it is."},
    ]
    async with house_of(tmp_path, script) as house:
        run_id = (await house.start("ask"))["run_id"]
        await house.until(run_id, "WAITING")
        path = f"/api/runs/{run_id}"
        said = await house.client.post(f"{path}/say", json={"text": "Only the north side.", "pin": True})
        assert said.status_code == 202
        await house.client.post(f"{path}/answer", json={"text": "Both"})
        await house.until(run_id, "COMPLETED")
        lines = (await house.client.get(f"{path}/trace")).json()["lines"]
        first, *_, last = (line["seq"] for line in lines if line["kind"] == "ModelRequested")
        before, after = [(await house.client.get(f"{path}/contexts/{seq}")).json() for seq in (first, last)]
        for document in (before, after):
            ContextDocument.model_validate(document)
            assert document["is_as_recorded"]
        assert [part["text"] for part in before["parts"] if part["kind"] == "pinned"] == []
        assert [
            "Only the north side." in part["text"] for part in after["parts"] if part["kind"] == "pinned"
        ] == [True]
        wrong = await house.client.get(f"{path}/contexts/{first + 1}")
        assert (wrong.status_code, wrong.json()["code"]) == (400, "not_a_model_call")
