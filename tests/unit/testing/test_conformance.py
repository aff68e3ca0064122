"""Holding a store to its contract from outside: one of somebody else's too, and what it says without its libraries."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from outlast.domain.errors import CallerMistake
from outlast.testing.conformance import hold_to_contract

OF_OTHERS = """
import contextlib, itertools, tempfile
from pathlib import Path
from outlast.adapters.stores.sqlite import SqliteStore

class Forgetful(SqliteStore):
    async def read_payloads(self, digests):
        return {}

@contextlib.contextmanager
def storage():
    numbers = itertools.count()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        def new():
            path = Path(folder) / str(next(numbers))
            return lambda: Forgetful(path)
        yield new
    Path("removed").touch()
"""


def held(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "outlast.testing.conformance", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", timeout=100, check=False
    )


def test_a_store_of_somebody_else_is_held_to_it_and_what_it_does_not_keep_is_named(tmp_path: Path) -> None:
    (tmp_path / "acme.py").write_text(OF_OTHERS)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --not-for-this\n")
    only = "test_payloads_are_found_by_digest or test_an_unknown_stream_is_empty"
    done = held(tmp_path, "--json", "--only", only, "acme:storage")
    assert done.returncode == 1, done.stderr
    verdict = json.loads(done.stdout)
    assert (verdict["passed"], list(verdict["failed"])) == (1, ["test_payloads_are_found_by_digest"])
    assert "assert" in verdict["failed"]["test_payloads_are_found_by_digest"]
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == {
        "acme.py",
        "pytest.ini",
        "removed",
    }


@pytest.mark.parametrize(
    "target", ["nothing", "acme.stores:storage", "json:nothing", "sqlite:", "postgresql://["]
)
def test_what_is_no_store_is_refused_with_what_can_be_given(tmp_path: Path, target: str) -> None:
    done = held(tmp_path, target)
    assert done.returncode == 2
    assert "postgresql://" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("library", ["pytest", "pytest_asyncio"])
def test_a_library_that_is_missing_is_named_with_its_extra(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(CallerMistake) as refused:
        hold_to_contract("sqlite:here.db")
    assert refused.value.code == "extra_missing"
    assert "outlast[testing]" in refused.value.next_step
