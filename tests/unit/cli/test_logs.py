"""Logs go to stderr from their level on, and cannot command a terminal."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlast.cli.logs import configure_logs
from outlast.cli.main import answer
from tests.law import law


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


def test_only_what_is_severe_enough_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs("WARNING")
    logging.getLogger("some.part").info("quiet")
    logging.getLogger("some.part").warning("loud\x1b[2J")
    logged = capsys.readouterr()
    assert logged.out == ""
    assert "WARNING some.part: loud\ufffd[2J" in logged.err
    assert "quiet" not in logged.err
    configure_logs("INFO")
    logging.getLogger("httpx2").info("one request")
    logging.getLogger("some.part").info("told")
    assert [line.split(" ", 1)[1] for line in capsys.readouterr().err.splitlines()] == [
        "INFO some.part: told"
    ]


@law("SEE-5.a")
def test_a_run_logs_more_than_a_worker_unless_the_configuration_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.yaml").write_text("- {say: hello, repeat: true}\n")
    (tmp_path / "outlast.yaml").write_text("llm: {provider: scripted, script: script.yaml}\n")
    (tmp_path / "talk.yaml").write_text("task: {name: talk, workflow: chat, tools: []}\n")
    run = ["run", "--task", "./talk.yaml", "--input", "hello"]
    for words, level in (
        (run, "INFO"),
        (["worker", "--until-idle"], "WARNING"),
        ([*run, "--set", "logging.level=ERROR"], "ERROR"),
    ):
        assert answer(words) == 0
        assert logging.getLevelName(logging.getLogger().level) == level
