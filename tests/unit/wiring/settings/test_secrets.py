"""A secret is shown nowhere, and a mask never takes its place."""

import copy
import dataclasses
import json
import pickle
from pathlib import Path

import pytest

from outlast.domain.errors import CallerMistake
from outlast.wiring.settings.text import Secret, Text
from outlast.wiring.settings.walk import masked
from tests.unit.wiring.settings.writing import said_of, settings_of

CANARY = "sk-live-abc def"
EVERYWHERE = f"""
llm: {{provider: openai_compatible, base_url: "https://user:{CANARY.replace(" ", "_")}@h/v1", api_key: "{CANARY}"}}
harness: {{persistence: {{backend: postgres, url: "postgres://u:{CANARY}@h/d"}}}}
roles: {{planner: {{api_key: "{CANARY}"}}}}
search: {{provider: brave, api_key: "{CANARY}"}}
alerts: {{webhook: "https://h/{CANARY}", command: [notify, "--token={CANARY.replace(" ", "_")}"]}}
mcp_servers:
  x: {{command: p, args: ["--api-key=sk-live-abc"], env: {{T: "{CANARY}"}}}}
  y: {{url: "http://h?token=sk-live-abc", headers: {{Authorization: "Bearer {CANARY}"}}}}
gateway: {{token: "{CANARY}"}}
shadow: {{variant: {{llm: {{api_key: "{CANARY}"}}}}}}
"""


def test_g12_06_a_secret_prints_as_a_mask_everywhere(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, EVERYWHERE)
    shown = [
        repr(settings),
        str(settings),
        f"{settings.llm}",
        f"{settings.llm.api_key}",
        format(settings.llm.api_key),
        json.dumps(dataclasses.asdict(settings), default=str),
        json.dumps(masked(settings)),
        repr(copy.deepcopy(settings)),
        "\n".join(settings.notices),
    ]
    assert [text for text in shown if "sk-live" in text] == []
    assert f"{settings.llm.api_key}" == "***"
    assert settings.llm.api_key is not None
    assert settings.llm.api_key.resolve({}) == CANARY


@pytest.mark.parametrize(
    "text",
    [
        f'llm: {{api_key: ["{CANARY}"]}}',
        f'llm: {{api_key: {{"a": "{CANARY}"}}}}',
        f'llm: {{temperature: "{CANARY}"}}',
        f'llm: {{provider: "{CANARY}"}}',
        f'llm: {{max_tokens: "{CANARY}"}}',
        f'harness: "{CANARY}"',
        f'mcp_servers: {{a: {{command: x, env: ["{CANARY}"]}}}}',
        f'mcp_servers: "{CANARY}"',
        f'llm:\n  api_key: "{CANARY}',
        f"llm:\n  api_key: *{CANARY}",
        f"llm:\n  api_key: {CANARY}: x",
        f"llm:\n  api_key: @{CANARY}",
        f"llm:\n  api_key: !{CANARY}",
        f"llm:\n  api_key: {CANARY}\x01",
        f"llm:\n  api_key: &a {CANARY}\n  api_key: {CANARY}",
    ],
)
def test_g12_06_errors_name_the_field_and_never_the_value(text: str, tmp_path: Path) -> None:
    assert "sk-live" not in said_of(tmp_path, text)


def test_g12_06_a_masked_document_that_comes_back_never_overwrites_a_secret(tmp_path: Path) -> None:
    said = said_of(tmp_path, json.dumps(masked(settings_of(tmp_path, EVERYWHERE))))
    refused = [line.split(": ")[1] for line in said.splitlines() if "*** is a mask, not a value" in line]
    assert sorted(refused) == [
        "alerts.command.1",
        "alerts.webhook",
        "gateway.token",
        "harness.persistence.url",
        "llm.api_key",
        "llm.base_url",
        "mcp_servers.x.args.0",
        "mcp_servers.x.env.T",
        "mcp_servers.y.headers.Authorization",
        "mcp_servers.y.url",
        "roles.planner.api_key",
        "search.api_key",
        "shadow.variant.llm.api_key",
    ]


def test_a_masked_document_without_written_out_secrets_loads_as_the_same_settings(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path, "llm: {provider: openai_compatible, base_url: 'http://x', api_key: '${K}'}"
    )
    assert masked(settings)["llm"] == masked(settings_of(tmp_path, json.dumps(masked(settings))))["llm"]
    assert "${K}" in json.dumps(masked(settings))


def test_a_default_of_a_secret_is_not_shown() -> None:
    assert Secret("${K:-sk-live}").shown() == "***"
    assert Secret("${K}").shown() == "${K}"


def test_a_resolved_secret_is_masked_too() -> None:
    assert repr(Secret("${K}").resolved({"K": "${sk-live}"})) == "***"
    assert Secret("${K}").resolved({"K": "${Y}"}).shown() == "***"


def test_a_secret_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="A secret is not written out"):
        pickle.dumps(Secret("sk-live"))


def test_credentials_inside_other_texts_are_masked() -> None:
    assert Text("https://a:b@h/p").shown() == "https://***@h/p"
    assert Text("http://h?token=abc&x=1").shown() == "http://h?token=***&x=1"
    assert Text("--api-key=${KEY}").shown() == "--api-key=${KEY}"
    assert Text("http://h/a@b?q=1").shown() == "http://h/a@b?q=1"


def test_missing_variables_of_secrets_name_key_and_variable() -> None:
    with pytest.raises(
        CallerMistake, match=r"llm\.api_key needs the environment variable K, which is not set"
    ):
        Secret("${K}", "llm.api_key").resolve({})
