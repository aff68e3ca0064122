"""Background tasks over HTTP: seven fields in public, no more than its own to anybody."""

from pathlib import Path
from typing import Any

import pytest

from outlast.domain.background import BackgroundTask
from outlast.domain.notification import Notification
from outlast.gateway.shapes.background import PublicTask, TaskDetail, TaskPage
from outlast.ports.background_driver import Question
from outlast.ports.task_rows import InsertTask
from outlast.tasks.codec import row_of
from tests.law import law
from tests.unit.gateway.house import House, house_of
from tests.unit.gateway.test_access import TOKENS, bearer
from tests.unit.tasks.props import QUESTION, after, asking, completed, task

SEVEN = {"id", "name", "status", "tracking", "created_at", "updated_at", "actions"}

RENDERER = 'mcp_servers: {renderer: {url: "http://127.0.0.1:9/mcp"}}\n'
TAKERS = """mcp_servers:
  renderer: {url: "http://127.0.0.1:9/mcp", tasks: [{submit: start_job, status: job_status}]}
"""


async def put(house: House, found: BackgroundTask) -> None:
    """Have the store know a task."""
    await house.serving.site.store.commit([InsertTask(row_of(found))])


@law("SAFE-2.a", "TASK-5.c")
async def test_task_is_listed_in_seven_fields_shown_with_what_it_asks_and_answered(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0, config=RENDERER) as house:
        thread = (await house.client.post("/api/threads", json={"title": "Ours"})).json()["thread_id"]
        mine: dict[str, Any] = {
            "user_id": "local",
            "thread_id": thread,
            "driver": "mcp_tasks",
            "driver_data": {"token": "driver-canary"},
        }
        await put(house, after(task(task_id="b-1", **mine), asking(colour=QUESTION)).task)
        path = f"/api/threads/{thread}/background-tasks"
        listed = (await house.client.get(path)).json()
        TaskPage.model_validate(listed)
        assert set(listed["background_tasks"][0]) == SEVEN
        assert (await house.client.get("/api/background-tasks?status=open")).json() == listed
        shown = (await house.client.get(f"{path}/b-1")).json()
        TaskDetail.model_validate(shown)
        assert (shown["status"], shown["actions"]) == ("input_required", ["cancel", "answer"])
        assert shown["questions"][0]["message"] == "Which colour?"
        wrong = await house.client.post(f"{path}/b-1/answer", json={"content": {"colour": 5}})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "bad_answer")
        twice = await house.client.post(f"{path}/b-1/answer", json={"text": "red", "action": "decline"})
        assert (twice.status_code, twice.json()["code"]) == (400, "bad_answer")
        done = await house.client.post(f"{path}/b-1/answer", json={"content": {"colour": "red"}})
        assert (done.status_code, done.json()["questions"]) == (202, [])
        cancelled = await house.client.post(f"{path}/b-1/cancel")
        assert (cancelled.status_code, cancelled.json()["status"]) == (202, "cancelling")
        seen = str([listed, shown, done.json(), cancelled.json(), (await house.client.get("/metrics")).text])
        assert "secret-remote" not in seen
        assert "driver-canary" not in seen
        wrong = await house.client.get(f"{path}?status=strange")
        assert (wrong.status_code, wrong.json()["code"]) == (400, "unknown_status")


async def test_several_questions_are_answered_by_their_keys_in_words_or_declined(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0) as house:
        thread = (await house.client.post("/api/threads", json={})).json()["thread_id"]
        asked = asking(a=QUESTION, b=Question("form", "Which size?", QUESTION.schema))
        await put(house, after(task(task_id="b-1", user_id="local", thread_id=thread), asked).task)
        path = f"/api/threads/{thread}/background-tasks/b-1/answer"
        which = await house.client.post(path, json={"text": "red"})
        assert (which.status_code, which.json()["code"]) == (409, "which_question")
        assert (await house.client.post(path, json={"key": "a", "text": "red"})).status_code == 202
        declined = await house.client.post(path, json={"key": "b", "action": "decline"})
        assert (declined.status_code, declined.json()["questions"]) == (202, [])


@law("TASK-7.b")
async def test_dead_letters_of_everybody_are_an_admins_and_everybody_sends_their_own_again(
    tmp_path: Path,
) -> None:
    async with house_of(tmp_path, config=TOKENS, workers=0) as house:
        ann, bob, ada = (
            await house.user("ann"),
            await house.user("bob"),
            await house.user("ada", "read", "write", "admin"),
        )
        thread = (await house.client.post("/api/threads", json={}, headers=bearer(ann))).json()["thread_id"]
        for name in ("b-1", "b-2"):
            done = after(task(task_id=name, name=name, remote_id=name, thread_id=thread), completed()).task
            dead = {"notification": Notification.DEAD_LETTER}
            await put(
                house, BackgroundTask(**{**{one: getattr(done, one) for one in done.__slots__}, **dead})
            )
        path = "/api/background-tasks"
        refused = await house.client.get(f"{path}?status=dead_letter", headers=bearer(ann))
        assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
        found = (await house.client.get(f"{path}?status=dead_letter", headers=bearer(ada))).json()
        assert [set(one) for one in found["background_tasks"]] == [SEVEN, SEVEN]
        assert "outlast_dead_letters 2.0" in (await house.client.get("/metrics", headers=bearer(ada))).text
        assert (await house.client.post(f"{path}/b-1/redrive", headers=bearer(bob))).status_code == 404
        for name, user in (("b-1", ann), ("b-2", ada)):
            sent = await house.client.post(f"{path}/{name}/redrive", headers=bearer(user))
            assert sent.status_code == 202, sent.text
            PublicTask.model_validate(sent.json())
            assert set(sent.json()) == SEVEN
        again = await house.client.post(f"{path}/b-1/redrive", headers=bearer(ann))
        assert (again.status_code, again.json()["code"]) == (409, "no_dead_letter")


@law("TASK-5.a")
@pytest.mark.parametrize(
    ("config", "driver", "why"),
    [
        ("", "mcp_tasks", "this configuration does not have"),
        (RENDERER, "strange", "cannot look after tasks of the kind strange"),
        (TAKERS, "mcp_tools", "its server has no way to"),
    ],
)
async def test_a_cancel_that_no_worker_could_carry_out_is_refused(
    tmp_path: Path, config: str, driver: str, why: str
) -> None:
    async with house_of(tmp_path, workers=0, config=config) as house:
        thread = (await house.client.post("/api/threads", json={})).json()["thread_id"]
        await put(house, task(task_id="b-1", user_id="local", thread_id=thread, driver=driver))
        path = f"/api/threads/{thread}/background-tasks/b-1"
        refused = await house.client.post(f"{path}/cancel")
        assert (refused.status_code, refused.json()["code"]) == (409, "cannot_cancel")
        assert why in refused.json()["detail"]
        assert refused.json()["next"]
        assert (await house.client.get(path)).json()["status"] == "working"
