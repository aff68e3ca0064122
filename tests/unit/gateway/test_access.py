"""Who may come in, and whose things they see."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx2
import pytest
from fastapi.routing import iter_route_contexts

from outlast.domain.memory import Memory, MemoryKind, Scope
from outlast.gateway import streams
from outlast.ports.memory import Entry
from outlast.ports.task_rows import InsertTask
from outlast.service.access import Issued, revoke
from outlast.tasks.codec import row_of
from tests.law import law
from tests.unit.gateway.house import House, house_of
from tests.unit.tasks.props import QUESTION, START, after, asking, task

TOKENS = "gateway: {auth: token, max_requests_per_second: 1000}\n"
OPEN_TO_ALL = {"/healthz", "/readyz", "/openapi.json", "/api/session", "/{path:path}"}
"""Routes that ask nobody who they are: none of them tells or does anything of a user's."""

BODIES: dict[str, dict[str, Any]] = {
    "/api/threads": {},
    "/api/threads/{thread_id}/runs": {"task": "talk", "input": "Go"},
    "/api/runs": {"task": "talk", "input": "Go"},
    "/api/runs/{run_id}/say": {"text": "hello"},
    "/api/runs/{run_id}/answer": {"text": "hello"},
    "/api/runs/{run_id}/limits": {"limits": {"max_steps": 5}},
    "/api/runs/{run_id}/fork": {"at": 1},
    "/api/approvals/{ticket}": {"decision": "approve"},
    "/api/threads/{thread_id}/background-tasks/{task_id}/answer": {"text": "red"},
}
"""Bodies that would do something, for the routes that take one."""


def bearer(issued: Issued) -> dict[str, str]:
    return {"Authorization": f"Bearer {issued.secret}"}


def routes(house: House) -> Iterator[tuple[str, str]]:
    """Every method and path pattern there is."""
    for route in iter_route_contexts(house.app.routes):
        for method in sorted((route.methods or set()) - {"HEAD", "OPTIONS"}):
            yield method, str(route.path)


async def asked(
    house: House, method: str, pattern: str, names: dict[str, str], headers: dict[str, str]
) -> httpx2.Response:
    """The answer to a request that would be a good one of whoever owns what it names."""
    path = re.sub(r"\{(\w+)(:path)?\}", lambda found: names.get(found[1], "x"), pattern)
    body = {"json": BODIES[pattern]} if method == "POST" and pattern in BODIES else {}
    async with house.client.stream(method, path, headers=headers, **body) as answer:
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            await answer.aread()
        return answer


@law("DOOR-5.c")
async def test_every_route_that_is_somebodys_asks_who_is_there(tmp_path: Path) -> None:
    async with house_of(tmp_path, config=TOKENS) as house:
        ann = await house.user("ann")
        names = await _belongings(house, ann)
        good = await house.user("ann", expires_at=await house.now() + timedelta(hours=1))
        gone = await house.user("ann")
        await revoke(house.serving.site.store, gone.credential.credential, "local")
        with patch.object(house.serving.site.access, "_now", _later(await house.now())):
            for method, pattern in routes(house):
                if pattern in OPEN_TO_ALL:
                    continue
                for headers in (
                    {},
                    {"Authorization": "Bearer"},
                    {"Authorization": "Basic YTpi"},
                    {"Authorization": "Bearer olt_wrong"},
                    bearer(good),
                    bearer(gone),
                    {"Cookie": f"{house.cookie}=ols_wrong", "Origin": house.serving.address},
                    {"Cookie": f"{house.cookie}={ann.secret}", "Origin": house.serving.address},
                ):
                    answer = await asked(house, method, pattern, names, headers)
                    assert answer.status_code == 401, (method, pattern, headers)
                    assert answer.headers["www-authenticate"] == "Bearer"
        assert await _unchanged(house, ann, names)


@law("DOOR-5.d", "TASK-5.f")
async def test_what_is_anothers_is_answered_like_what_is_not_there(tmp_path: Path) -> None:
    async with house_of(tmp_path, config=TOKENS) as house:
        ann, bob = await house.user("ann"), await house.user("bob")
        names = await _belongings(house, ann)
        missing = {
            "run_id": "r-0000000000000000",
            "thread_id": "t-0000000000000000",
            "ticket": "a0000000",
            "task_id": "b-0",
            "seq": names["seq"],
            "memory_id": "m-0",
        }
        for method, pattern in routes(house):
            if "{" not in pattern or pattern in OPEN_TO_ALL:
                continue
            foreign = await asked(house, method, pattern, names, bearer(bob))
            absent = await asked(house, method, pattern, missing, bearer(bob))
            assert foreign.status_code == absent.status_code == 404, (method, pattern)
            assert _without_names(foreign, names) == _without_names(absent, missing), (method, pattern)
        for path in ("/api/runs", "/api/threads"):
            assert not next(iter((await house.client.get(path, headers=bearer(bob))).json().values()))
        body = {"task": "talk", "input": "Go", "thread_id": names["thread_id"]}
        assert (await house.client.post("/api/runs", json=body, headers=bearer(bob))).status_code == 404
        body = {"task": "talk", "input": "Go", "continues": names["run_id"]}
        assert (await house.client.post("/api/runs", json=body, headers=bearer(bob))).status_code == 404
        assert await _unchanged(house, ann, names)


async def test_key_of_one_user_means_nothing_to_another(tmp_path: Path) -> None:
    async with house_of(tmp_path, config=TOKENS) as house:
        body = {"task": "talk", "input": "Go"}
        found = []
        for user in (await house.user("ann"), await house.user("bob")):
            headers = {**bearer(user), "Idempotency-Key": "same"}
            found.append((await house.client.post("/api/runs", json=body, headers=headers)).json()["run_id"])
        assert found[0] != found[1]


@pytest.mark.parametrize(
    "name",
    [
        "..%2f..%2fetc",
        "%2e%2e",
        "%2e%2e%2ft1-evil%2fx",
        "..%5ct1-evil",
        "t1%00",
        "a%2f..%2f..%2ft1-evil%2fx",
        "-x",
        "x" * 81,
        "%F0%9F",
    ],
)
async def test_g13_03_name_that_is_no_id_is_answered_like_one_that_is_not_there(
    tmp_path: Path, name: str
) -> None:
    async with house_of(tmp_path, workers=0) as house:
        for pattern in (
            "/api/runs/{}",
            "/api/runs/{}/report",
            "/api/runs/{}/events",
            "/api/threads/{}",
            "/assets/{}",
        ):
            answer = await house.client.get(pattern.format(name))
            assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
        posted = await house.client.post(f"/api/approvals/{name}", json={"decision": "approve"})
        assert posted.status_code in (404, 405)
        body = {"task": "talk", "input": "Go", "thread_id": name}
        assert (await house.client.post("/api/runs", json=body)).status_code == 404


async def test_reading_token_changes_nothing_and_only_an_admin_sees_to_the_whole(tmp_path: Path) -> None:
    async with house_of(tmp_path, config=TOKENS) as house:
        ann, reader = await house.user("ann"), await house.user("ann", "read")
        names = await _belongings(house, ann)
        for method, pattern in routes(house):
            if pattern in OPEN_TO_ALL:
                continue
            answer = await asked(house, method, pattern, names, bearer(reader))
            if method == "GET" and pattern not in ("/api/config", "/metrics"):
                assert answer.status_code in (200, 404), (pattern, answer.text)
            else:
                assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing"), (
                    method,
                    pattern,
                )
        assert await _unchanged(house, ann, names)
        admin = await house.user("ada", "read", "admin")
        for path in ("/api/config", "/metrics"):
            assert (await house.client.get(path, headers=bearer(admin))).status_code == 200


async def test_settings_that_decide_what_runs_here_take_an_admin(tmp_path: Path) -> None:
    async with house_of(tmp_path, config=TOKENS, workers=0) as house:
        ann, ada = await house.user("ann"), await house.user("ada", "read", "write", "admin")
        for key, value in {
            "llm.base_url": "https://evil.example",
            "tools.paths": ["os"],
            "task.workflow": "os:system",
            "task.approvals": [],
            "harness": {"persistence": {"path": "/tmp/x"}},
            "task.max_steps.x": 1,
        }.items():
            body = {"task": "talk", "input": "Go", "config": {key: value}}
            refused = await house.client.post("/api/runs", json=body, headers=bearer(ann))
            assert (refused.status_code, refused.json()["code"]) in [
                (403, "setting_forbidden"),
                (400, "invalid_task"),
            ]
        free = {"task": "talk", "input": "Go", "config": {"task.max_steps": 5, "llm": {"temperature": 0.1}}}
        assert (await house.client.post("/api/runs", json=free, headers=bearer(ann))).status_code == 202
        more = {"task": "talk", "input": "Go", "config": {"task.approvals": []}}
        assert (await house.client.post("/api/runs", json=more, headers=bearer(ada))).status_code == 202


async def test_browser_signs_in_with_a_code_once_and_out_again(tmp_path: Path) -> None:
    async with house_of(tmp_path, config=TOKENS) as house:
        link = await house.serving.link()
        code = link.partition("#code=")[2]
        page = {"Origin": house.serving.address, "Sec-Fetch-Site": "same-origin"}
        nobody = (await house.client.get("/api/session")).json()
        assert (nobody["user"], nobody["must_sign_in"]) == (None, True)
        signed = await house.client.post("/api/session", json={"code": code}, headers=page)
        assert (signed.status_code, signed.json()["user"]) == (200, "local")
        flags = signed.headers["set-cookie"].lower()
        assert all(flag in flags for flag in ("httponly", "samesite=strict", "path=/", house.cookie))
        assert code not in flags
        again = await house.client.post("/api/session", json={"code": code}, headers=page)
        assert (again.status_code, again.json()["code"]) == (401, "token_refused")
        body = {"task": "talk", "input": "Go"}
        assert (await house.client.post("/api/runs", json=body, headers=page)).status_code in (200, 202)
        unsaid = await house.client.post("/api/runs", json=body)
        assert (unsaid.status_code, unsaid.json()["code"]) == (403, "foreign_origin")
        assert (await house.client.get("/api/runs")).status_code == 200
        kept = house.client.cookies[house.cookie]
        out = await house.client.delete("/api/session", headers=page)
        assert out.json()["user"] is None
        stale = {"Cookie": f"{house.cookie}={kept}", **page}
        assert (await house.client.get("/api/runs", headers=stale)).status_code == 401


async def test_browser_signs_in_with_a_token_and_tries_are_bounded(tmp_path: Path) -> None:
    async with house_of(tmp_path, config=TOKENS) as house:
        ann = await house.user("ann", "read")
        signed = await house.client.post("/api/session", json={"token": ann.secret})
        assert (signed.json()["user"], signed.json()["scopes"]) == ("ann", ["read"])
        answers = [await house.client.post("/api/session", json={"token": "olt_no"}) for _ in range(12)]
        assert {answer.status_code for answer in answers} == {401, 429}


async def test_configured_token_is_the_local_users_and_then_everybody_needs_one(tmp_path: Path) -> None:
    async with house_of(tmp_path, config="gateway: {token: tide-and-wind}\n") as house:
        assert (await house.client.get("/api/runs")).status_code == 401
        headers = {"Authorization": "Bearer tide-and-wind"}
        assert (await house.client.get("/api/config", headers=headers)).status_code == 200
        shown = (await house.client.get("/api/config", headers=headers)).text
        assert "tide-and-wind" not in shown
        signed = await house.client.post("/api/session", json={"token": "tide-and-wind"})
        assert signed.json()["user"] == "local"


async def test_stream_ends_once_its_reader_may_read_no_longer(tmp_path: Path) -> None:
    with patch.object(streams, "RECHECK_SECONDS", 0.0), patch.object(streams, "HEARTBEAT_SECONDS", 0.05):
        async with house_of(tmp_path, config=TOKENS, workers=0) as house:
            ann = await house.user("ann")
            started = await house.client.post(
                "/api/runs", json={"task": "talk", "input": "Go"}, headers=bearer(ann)
            )
            async with house.events(started.json()["run_id"], headers=bearer(ann)) as frames:
                await anext(frames)
                await revoke(house.serving.site.store, ann.credential.credential, "local")
                rest = [frame async for frame in frames]
            assert (rest[-1].event, rest[-1].data["code"]) == ("refused", "token_refused")


async def test_proxy_with_tls_gives_its_name_and_a_cookie_bound_to_it(tmp_path: Path) -> None:
    config = "gateway: {public_url: 'https://outlast.example/', token: tide}\n"
    async with house_of(tmp_path, config=config) as house:
        assert house.serving.address == "https://outlast.example"
        page = {"Host": "outlast.example", "Origin": "https://outlast.example"}
        signed = await house.client.post("/api/session", json={"token": "tide"}, headers=page)
        assert signed.headers["set-cookie"].startswith("__Host-outlast_session=")
        assert "secure" in signed.headers["set-cookie"].lower()


async def _belongings(house: House, user: Issued) -> dict[str, str]:
    """Ann's run that waits for an approval, its thread, its ticket, and a background task that asks."""
    started = await house.client.post(
        "/api/runs", json={"task": "gated", "input": "Mine"}, headers=bearer(user)
    )
    run = started.json()
    watch = house.serving.site.store.watch([run["run_id"]])
    while run["state"] != "WAITING":
        await watch.wait(1.0)
        run = (await house.client.get(f"/api/runs/{run['run_id']}", headers=bearer(user))).json()
    watch.stop()
    ticket = run["waiting_for"][0].split()[1].rstrip(":")
    asks = after(task(task_id="b-mine", user_id="ann", thread_id=run["thread_id"]), asking(a=QUESTION)).task
    await house.serving.site.store.commit([InsertTask(row_of(asks))])
    memory = house.serving.site.engine.memory
    assert memory is not None
    note = Memory(kind=MemoryKind.NOTE, text="Mine", scope=Scope("ann"), created_at=START, valid_from=START)
    await memory.store.put([Entry(note)])
    lines = (await house.client.get(f"/api/runs/{run['run_id']}/trace", headers=bearer(user))).json()["lines"]
    seq = next(str(line["seq"]) for line in lines if line["kind"] == "ModelRequested")
    names = {"run_id": run["run_id"], "thread_id": run["thread_id"], "seq": seq, "memory_id": note.memory_id}
    return {**names, "ticket": ticket, "task_id": "b-mine"}


async def _unchanged(house: House, user: Issued, names: dict[str, str]) -> bool:
    shown = (await house.client.get("/api/runs", headers=bearer(user))).json()["runs"]
    tasks = (await house.client.get("/api/background-tasks", headers=bearer(user))).json()["background_tasks"]
    kept = (await house.client.get("/api/memory", headers=bearer(user))).json()["memories"]
    assert [one["id"] for one in kept] == [names["memory_id"]]
    return [(run["run_id"], run["state"]) for run in shown] == [(names["run_id"], "WAITING")] and [
        (one["id"], one["status"]) for one in tasks
    ] == [("b-mine", "input_required")]


def _without_names(answer: httpx2.Response, names: dict[str, str]) -> str:
    text = answer.text
    for name in (name for name in names.values() if not name.isdecimal()):
        text = text.replace(name, "NAME")
    return text


def _later(now: Any) -> Any:
    return lambda: now + timedelta(hours=2)
