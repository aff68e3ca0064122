"""`outlast token` and a gateway that asks who is there, as processes."""

import re
import signal

from tests.e2e import over_http
from tests.e2e.command_line import Home
from tests.law import law

CANARY, OTHER_CANARY = "olt-canary-of-the-gateway", "sk-canary-of-the-model"


@law("DOOR-5.c", "DOOR-5.d")
def test_user_with_a_token_works_from_elsewhere_until_it_is_revoked(talking: Home) -> None:
    talking.write("script.yaml", '- {say: "Hello.", repeat: true}\n')
    made = talking.outlast("token", "create", "--user", "ann", "--expires", "30d", "--label", "laptop")
    secret = made.out.strip()
    assert re.fullmatch(r"olt_[A-Za-z0-9_-]{43}", secret)
    going = talking.start("serve", "--host", "0.0.0.0", "--port", "0")
    warning = going.until("not encrypted")
    assert "TLS" in warning
    port = going.until("Listening on").split()[2].rpartition(":")[2]
    assert "#code=olc_" in going.until("Sign in")
    address, headers = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {secret}"}
    assert over_http.get(f"{address}/api/runs").status_code == 401
    started = over_http.post(f"{address}/api/runs", json={"task": "talk", "input": "Hi"}, headers=headers)
    assert started.status_code in (200, 202)
    listed = talking.outlast("token", "list", "--json").document["tokens"]
    assert [(one["user"], one["label"], one["scopes"]) for one in listed] == [
        ("ann", "laptop", ["read", "write"])
    ]
    assert listed[0]["last_used_at"] is not None
    assert talking.outlast("token", "revoke", listed[0]["id"]).code == 0
    refused = over_http.get(f"{address}/api/runs", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (401, "token_refused")
    assert talking.outlast("token", "revoke", listed[0]["id"]).code == 4
    going.signal(signal.SIGTERM)
    assert going.end().code == 0
    kept = b"".join(path.read_bytes() for path in talking.folder.rglob("*") if path.is_file())
    assert secret.encode() not in kept, "a secret is kept nowhere"


@law("SEE-5.c")
def test_secrets_of_the_configuration_are_in_no_answer_stream_log_or_file(talking: Home) -> None:
    talking.environ.update(GATE=CANARY, KEY=OTHER_CANARY)
    config = talking.folder / "outlast.yaml"
    text = config.read_text().replace("script.yaml}", "script.yaml, api_key: '${KEY}'}")
    config.write_text(text + "gateway: {token: '${GATE}'}\n")
    talking.write("script.yaml", '- {say: "Hello.", repeat: true}\n')
    going = talking.start("serve", "--port", "0", "--set", "logging.level=DEBUG")
    address = going.until("Listening on").split()[2]
    headers = {"Authorization": f"Bearer {CANARY}"}
    run_id = over_http.post(
        f"{address}/api/runs", json={"task": "talk", "input": "Hi"}, headers=headers
    ).json()["run_id"]
    seen = over_http.get(f"{address}/api/runs/{run_id}/events", headers=headers).text
    for path in (
        "/api/config",
        "/metrics",
        f"/api/runs/{run_id}/trace",
        "/api/runs",
        "/openapi.json",
        "/api/session",
    ):
        seen += over_http.get(f"{address}{path}", headers=headers).text
    seen += over_http.get(f"{address}/api/runs", headers={"Authorization": f"Bearer {CANARY}x"}).text
    going.signal(signal.SIGTERM)
    ended = going.end()
    files = [path for path in (talking.folder / ".outlast").rglob("*") if path.is_file()]
    assert files
    for canary in (CANARY, OTHER_CANARY):
        assert canary not in seen + ended.out + ended.err
        assert not [path for path in files if canary.encode() in path.read_bytes()]
