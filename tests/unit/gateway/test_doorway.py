"""What the doorway lets through: requests for us, from our own page or a program, with bodies that are JSON within bounds."""

from pathlib import Path
from typing import Any

import pytest

from tests.law import law
from tests.unit.gateway.house import house_of

RUN = {"task": "talk", "input": "Go"}


@law("DOOR-5.a", "DOOR-5.b")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "10.0.0.1",
        "",
        "localhost/x",
        "[::2]",
    ],
)
async def test_request_for_another_host_is_refused_whatever_it_asks(tmp_path: Path, host: str) -> None:
    async with house_of(tmp_path, workers=0) as house:
        for path in ("/api/runs", "/healthz", "/", "/metrics", "/openapi.json"):
            answer = await house.client.get(path, headers={"Host": host})
            assert answer.status_code in (400, 421), (path, answer.text)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "127.0.0.1:8765", "[::1]:1"])
async def test_names_of_this_machine_are_ours_through_any_port(tmp_path: Path, host: str) -> None:
    async with house_of(tmp_path, workers=0) as house:
        assert (await house.client.get("/api/runs", headers={"Host": host})).status_code == 200


@law("DOOR-5.b")
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://localhost:1"},
        {"Origin": "file://{host}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://{host}", "Sec-Fetch-Site": "cross-site"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_request_that_another_site_made_a_browser_send_is_refused(
    tmp_path: Path, method: str, headers: dict[str, str]
) -> None:
    async with house_of(tmp_path, workers=0) as house:
        host = house.serving.address.removeprefix("http://")
        sent = {name: value.format(host=host) for name, value in headers.items()}
        body = {"json": RUN} if method == "POST" else {}
        answer = await house.client.request(method, "/api/runs", headers=sent, **body)
        assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")
        assert (await house.client.get("/api/runs")).json() == {"runs": []}


async def test_our_own_page_and_programs_are_let_through(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0) as house:
        own: list[dict[str, str]] = [
            {},
            {"Origin": house.serving.address, "Sec-Fetch-Site": "same-origin"},
            {"Sec-Fetch-Site": "none"},
        ]
        for headers in own:
            assert (await house.client.post("/api/runs", json=RUN, headers=headers)).status_code == 202


async def test_link_on_another_site_may_lead_to_the_page_but_not_to_the_api(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0) as house:
        link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert (await house.client.get("/runs/r-1", headers=link)).status_code in (200, 404)
        assert (await house.client.get("/api/runs", headers=link)).status_code == 403


@law("DOOR-1.e")
@pytest.mark.parametrize(
    ("status", "code", "sent"),
    [
        (
            415,
            "not_json",
            {"content": b"task=talk", "headers": {"Content-Type": "application/x-www-form-urlencoded"}},
        ),
        (415, "not_json", {"content": b'{"task": "talk"}', "headers": {"Content-Type": "text/plain"}}),
        (415, "not_json", {"content": b'{"task": "talk"}'}),
        (415, "not_json", {"files": {"a": b"b"}}),
        (400, "not_json", {"content": b'{"task": "\xff"}', "headers": {"Content-Type": "application/json"}}),
        (400, "invalid_json", {"content": b"{", "headers": {"Content-Type": "application/json"}}),
        (400, "invalid_json", {"content": b"[" * 2000, "headers": {"Content-Type": "application/json"}}),
        (400, "invalid_json", {"content": b'{"a": NaN}', "headers": {"Content-Type": "application/json"}}),
        (
            400,
            "invalid_json",
            {"content": b'{"a": 1, "a": 2}', "headers": {"Content-Type": "application/json"}},
        ),
        (413, "body_too_large", {"json": {"input": "x" * 3000}}),
        (422, "invalid_request", {"json": {"task": "talk"}}),
        (422, "invalid_request", {"json": {**RUN, "colour": "red"}}),
        (422, "invalid_request", {"json": {**RUN, "multitask_strategy": "merge"}}),
        (422, "invalid_request", {"json": [RUN]}),
        (404, "task_not_found", {"json": {**RUN, "task": "tasks/talk.yaml"}}),
        (404, "task_not_found", {"json": {**RUN, "task": "../../etc/passwd"}}),
        (400, "empty_input", {"json": {**RUN, "input": "  "}}),
    ],
)
async def test_body_that_is_none_of_ours_is_refused_with_a_problem(
    tmp_path: Path, status: int, code: str, sent: dict[str, Any]
) -> None:
    async with house_of(tmp_path, workers=0, config="gateway: {max_body_bytes: 2048}\n") as house:
        answer = await house.client.post("/api/runs", **sent)
        assert answer.headers["content-type"] == "application/problem+json"
        told = answer.json()
        assert (answer.status_code, told["status"], told["code"]) == (status, status, code)
        assert set(told) == {"type", "title", "status", "code", "detail", "next"}
        assert all(told.values())


async def test_body_that_never_says_how_long_it_is_is_bounded_all_the_same(tmp_path: Path) -> None:
    async def pieces() -> Any:
        for _ in range(3):
            yield b"x" * 1000

    async with house_of(tmp_path, workers=0, config="gateway: {max_body_bytes: 2048}\n") as house:
        headers = {"Content-Type": "application/json"}
        answer = await house.client.post("/api/runs", content=pieces(), headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


@law("DOOR-1.e")
async def test_path_and_method_that_are_not_there_are_told_as_problems(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0) as house:
        nowhere = await house.client.get("/api/nowhere")
        assert (nowhere.status_code, nowhere.json()["code"]) == (404, "no_such_route")
        wrong = await house.client.put("/api/runs", json={})
        assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
        assert wrong.headers["allow"] == "GET, POST"


async def test_every_answer_carries_the_headers_that_keep_a_browser_from_mischief(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0) as house:
        for path in ("/api/runs", "/api/nowhere", "/healthz"):
            headers = (await house.client.get(path)).headers
            assert "default-src 'self'" in headers["content-security-policy"]
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert "unsafe-inline" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert not [name for name in headers if name.startswith("access-control-")]


async def test_user_who_asks_too_fast_is_told_how_long_to_wait(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0, config="gateway: {max_requests_per_second: 1}\n") as house:
        answers = [await house.client.get("/api/runs") for _ in range(4)]
        assert [answer.status_code for answer in answers[:2]] == [200, 200]
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.json()["code"] == "too_many_requests"
        assert int(refused.headers["retry-after"]) >= 1
