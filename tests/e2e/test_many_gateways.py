"""Gateways and workers of several machines on one PostgreSQL: whoever is asked answers, whoever is free works."""

import json
from typing import Any

import httpx2

from outlast.testing.servers.postgres import PostgresServer
from tests.e2e import over_http
from tests.e2e.command_line import Going, Home
from tests.law import law
from tests.patience import PATIENCE_SECONDS

CONFIG = """
llm: {provider: scripted, script: script.yaml}
tools: {paths: [tools]}
harness: {lease_seconds: 2, persistence: {backend: postgres, url: "${URL}"}}
"""
SCRIPT = """
- {when: {turn: 0}, call: {tool: hold, arguments: {}}}
- {say: "Held."}
"""


def gateway(home: Home) -> tuple[Going, str]:
    """A gateway that works on nothing itself, and where it listens."""
    going = home.start("serve", "--port", "0", "--workers", "0")
    return going, going.until("Listening on").split()[2]


def followed(address: str, run_id: str, after: int, until: str) -> list[dict[str, Any]]:
    """The trace lines a gateway streams after a position, up to the first of a kind."""
    lines = []
    path, headers = f"{address}/api/runs/{run_id}/events", {"Last-Event-ID": str(after)}
    with httpx2.stream("GET", path, headers=headers, timeout=PATIENCE_SECONDS) as answer:
        for text in answer.iter_lines():
            if text.startswith("data: ") and '"seq"' in text:
                lines.append(json.loads(text.removeprefix("data: ")))
                if lines[-1]["kind"] == until:
                    break
    return lines


@law("SCALE-1.a", "SCALE-1.c")
def test_a_run_started_at_one_gateway_is_worked_on_elsewhere_and_followed_at_another(talking: Home) -> None:
    with PostgresServer() as server:
        talking.environ = {"URL": f"{server.url}&schema=many_gateways"}
        talking.write("outlast.yaml", CONFIG)
        talking.write("script.yaml", SCRIPT)
        first, here = gateway(talking)
        _, there = gateway(talking)
        worker = talking.start("worker")
        worker.until("is ready")
        run_id = over_http.post(f"{here}/api/runs", json={"task": "talk", "input": "Go"}).json()["run_id"]
        seen = followed(here, run_id, 0, "ToolRequested")
        first.kill()
        assert over_http.get(f"{there}/api/runs/{run_id}").json()["state"] == "EXECUTING"
        assert over_http.post(f"{there}/api/runs/{run_id}/say", json={"text": "Hurry"}).status_code == 202
        talking.write("go", "")
        seen += followed(there, run_id, seen[-1]["seq"], "RunReleased")
        assert [line["seq"] for line in seen] == list(range(1, len(seen) + 1)), (
            "nothing missing, nothing doubled"
        )
        assert "Said" in {line["kind"] for line in seen}
        assert over_http.get(f"{there}/api/runs/{run_id}").json()["answer"] == "Held."
