"""Whatever is sent, the gateway answers as its description says, and never with an error of its own."""

from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from outlast.gateway.app import describe
from tests.e2e import over_http
from tests.e2e.command_line import Home
from tests.law import law
from tests.patience import PATIENCE_SECONDS

CONFIG = """
llm: {provider: scripted, script: script.yaml}
gateway: {max_requests_per_second: 100000}
"""
GATED = "task: {name: gated, workflow: chat, tools: [], approvals: [{on: 'EXECUTING->COMPLETED'}]}\n"

EXAMPLES = 12
"""Requests a route and phase."""

SCHEMA = schemathesis.openapi.from_dict(describe()).exclude(path_regex="/events$")  # it may go on for ever
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@dataclass(frozen=True)
class Open:
    """Where a gateway listens, and what is there: a run that waits, its thread, its ticket."""

    address: str
    names: dict[str, str]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    """A gateway in a process of its own."""
    home = Home(tmp_path_factory.mktemp("anything"))
    home.write("outlast.yaml", CONFIG)
    home.write("script.yaml", '- {say: "Done.", repeat: true}\n')
    home.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: []}\n")
    home.write("tasks/gated.yaml", GATED)
    going = home.start("serve", "--port", "0")
    try:
        address = going.until("Listening on").split()[2]
        started = over_http.post(f"{address}/api/runs", json={"task": "gated", "input": "Go"}).json()
        _wait(address, started["run_id"])
        waiting = over_http.get(f"{address}/api/runs/{started['run_id']}").json()
        ticket = waiting["waiting_for"][0].split()[1].rstrip(":")
        names = {"run_id": waiting["run_id"], "thread_id": waiting["thread_id"], "ticket": ticket}
        yield Open(address, names)
    finally:
        home.close()


def _wait(address: str, run_id: str) -> None:
    """Until the run asks for its approval."""
    with httpx2.stream("GET", f"{address}/api/runs/{run_id}/events", timeout=PATIENCE_SECONDS) as answer:
        assert any("RunReleased" in line for line in answer.iter_lines())


@law("DOOR-1.a", "DOOR-1.e")
@SCHEMA.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_no_request_makes_the_gateway_fail_and_every_answer_is_as_described(
    case: schemathesis.Case, gateway: Open
) -> None:
    for name, value in (case.path_parameters or {}).items():
        if name in gateway.names and len(str(value)) % 2:
            case.path_parameters[name] = gateway.names[name]  # something that is there, every second time
    case.call_and_validate(base_url=gateway.address, checks=CHECKS, timeout=PATIENCE_SECONDS)
