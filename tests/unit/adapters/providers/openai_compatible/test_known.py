"""What was learned of a model is known to the next process, for a while."""

import json
from pathlib import Path

import pytest

from outlast.adapters.providers.openai_compatible import OpenAICompatible
from outlast.adapters.providers.openai_compatible.dialect import Dialect
from outlast.adapters.providers.openai_compatible.known import LEARNED_ANEW_SECONDS, KnownDialects
from tests.fake_endpoint import SAYS_HELLO, FakeEndpoint, Received, Reply, json_reply, playing
from tests.law import law
from tests.unit.adapters.providers.asking import a_request, ask

URL = "http://127.0.0.1:9/v1?key=hidden"
PLAIN = Dialect(structured="json_object", takes_temperature=False)


def refusing(*names: str) -> object:
    def picky(request: Received) -> Reply:
        for name in names:
            if name in request.body:
                return json_reply(
                    {"error": {"message": f"Unsupported parameter: {name}", "param": name}}, 400
                )
        return Reply([SAYS_HELLO])

    return picky


async def asked_by_a_new_process(endpoint: FakeEndpoint, path: Path) -> int:
    """How many requests one call takes."""
    before = len(endpoint.received)
    provider = OpenAICompatible(endpoint.base_url, dialects=KnownDialects(path, endpoint.base_url))
    assert (await ask(provider, a_request("go", max_tokens=9))).text
    await provider.close()
    return len(endpoint.received) - before


@law("MODEL-1.f")
async def test_what_one_process_was_refused_the_next_does_not_ask_for(tmp_path: Path) -> None:
    async with playing(refusing("temperature", "stream_options")) as endpoint:  # type: ignore[arg-type]
        assert [await asked_by_a_new_process(endpoint, tmp_path / "models.json") for _ in range(3)] == [
            3,
            1,
            1,
        ]


async def test_a_server_that_takes_the_place_of_another_is_found_out_anew(tmp_path: Path) -> None:
    """The one before wanted `max_completion_tokens`; the one there now knows only `max_tokens`."""
    path = tmp_path / "models.json"
    async with playing(refusing("max_completion_tokens")) as endpoint:  # type: ignore[arg-type]
        KnownDialects(path, endpoint.base_url)["m"] = Dialect(limit_name="max_completion_tokens")
        assert [await asked_by_a_new_process(endpoint, path) for _ in range(2)] == [2, 1]


def test_models_and_addresses_are_told_apart_and_no_key_is_written(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    KnownDialects(path, URL)["m"] = PLAIN
    KnownDialects(path, "http://other/v1")["m"] = Dialect(takes_reasoning=True)
    assert dict(KnownDialects(path, URL)) == {"m": PLAIN}
    assert "hidden" not in path.read_text()
    assert [entry.name for entry in tmp_path.iterdir()] == ["models.json"]


def test_two_processes_that_learn_at_once_both_leave_what_they_learned(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    here, there = KnownDialects(path, URL), KnownDialects(path, URL)
    assert (len(here), len(there)) == (0, 0)
    here["one"], there["two"] = PLAIN, Dialect(takes_reasoning=True)
    assert set(KnownDialects(path, URL)) == {"one", "two"}


@pytest.mark.parametrize("seconds", [LEARNED_ANEW_SECONDS, -1.0])
def test_what_was_learned_long_ago_or_in_the_future_is_learned_anew(tmp_path: Path, seconds: float) -> None:
    path = tmp_path / "models.json"
    KnownDialects(path, URL, clock=lambda: 1_000_000.0)["m"] = PLAIN
    assert dict(KnownDialects(path, URL, clock=lambda: 1_000_000.0 + seconds)) == {}


def test_the_usual_dialect_is_not_worth_a_file(tmp_path: Path) -> None:
    KnownDialects(tmp_path / "models.json", URL)["m"] = Dialect()
    assert not (tmp_path / "models.json").exists()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"x": 1}', "[" * 100_000, "\ud800", '{"%s": {"m": {"structured": "xml"}}}', '{"%s": {"m": [1]}}'],
)  # fmt: skip
def test_a_file_that_is_damaged_is_as_good_as_none_and_is_written_anew(tmp_path: Path, text: str) -> None:
    path = tmp_path / "models.json"
    probe = KnownDialects(tmp_path / "other.json", URL)
    probe["m"] = PLAIN
    (address,) = json.loads((tmp_path / "other.json").read_text())
    path.write_bytes(text.replace("%s", address).encode("utf-8", "surrogatepass"))
    known = KnownDialects(path, URL)
    assert dict(known) == {}
    known["m"] = PLAIN
    assert dict(KnownDialects(path, URL)) == {"m": PLAIN}


def test_where_nothing_can_be_written_it_is_known_to_this_process(tmp_path: Path) -> None:
    known = KnownDialects(tmp_path / "no" / "models.json", URL)
    known["m"] = PLAIN
    assert dict(known) == {"m": PLAIN}
