"""Where configurations and tasks are found, and what is said when they are not."""

from pathlib import Path

import pytest

from outlast.domain.errors import CallerMistake, NotFound
from outlast.wiring.settings import document
from outlast.wiring.settings.document import Document, parse
from outlast.wiring.settings.load import find_config, load
from outlast.wiring.settings.overrides import from_options
from outlast.wiring.settings.task_files import find_task
from outlast.wiring.settings.tree import Settings
from tests.unit.wiring.settings.writing import DOCUMENTS, task_of


@pytest.mark.parametrize("name", ["outlast.yaml", "config.yaml"])
def test_either_name_is_found_in_the_directory(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("llm: {temperature: 1}")
    settings = load(directory=tmp_path, environ={})
    assert (settings.llm.temperature, settings.home, settings.file) == (1, tmp_path, tmp_path / name)


def test_both_names_at_once_are_refused_unless_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "outlast.yaml").write_text("llm: {temperature: 1}")
    (tmp_path / "config.yaml").write_text("llm: {temperature: 2}")
    with pytest.raises(CallerMistake, match=r"holds both outlast\.yaml and config\.yaml") as caught:
        load(directory=tmp_path, environ={})
    assert caught.value.code == "two_configs"
    assert load(tmp_path / "config.yaml", environ={}).llm.temperature == 2
    assert (
        load(directory=tmp_path, environ={"OUTLAST_CONFIG": str(tmp_path / "outlast.yaml")}).llm.temperature
        == 1
    )


def test_a_path_counts_before_the_variable_and_an_empty_variable_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("")
    assert (
        find_config(tmp_path / "a.yaml", environ={"OUTLAST_CONFIG": "/nowhere.yaml"}) == tmp_path / "a.yaml"
    )
    assert find_config(directory=tmp_path, environ={"OUTLAST_CONFIG": ""}) is None


def test_a_configuration_that_is_named_and_not_there_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(CallerMistake, match=r"The configuration nowhere\.yaml \(--config\) does not exist\."):
        load("nowhere.yaml", environ={})
    with pytest.raises(CallerMistake, match=r"\(OUTLAST_CONFIG\) is a directory\."):
        load(environ={"OUTLAST_CONFIG": str(tmp_path)})


def test_relative_paths_start_from_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.yaml").write_text("search: {path: ../docs}")
    settings = load(tmp_path / "sub" / "c.yaml", environ={})
    assert settings.search is not None
    assert settings.path(settings.search.path, {}) == tmp_path / "docs"


def test_a_task_is_found_by_name_and_by_path() -> None:
    settings = Settings(home=DOCUMENTS)
    named = find_task("market_research", settings, environ={})
    assert (
        find_task(str(DOCUMENTS / "tasks" / "market_research.yaml"), settings, environ={}).document
        == named.document
    )
    assert named.home == DOCUMENTS / "tasks"


def test_a_task_that_is_not_there_is_told_with_what_was_probably_meant(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"Did you mean market_research\?"):
        find_task("market_reserch", Settings(home=DOCUMENTS), environ={})
    with pytest.raises(NotFound, match="There are chat and research"):
        find_task("qqq", Settings(home=tmp_path), environ={})
    with pytest.raises(NotFound, match=r"There is no task file tasks/qqq\.yaml"):
        find_task("tasks/qqq.yaml", Settings(home=tmp_path), environ={})


def test_two_files_with_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    for name in ("a", "b"):
        (tmp_path / "tasks" / f"{name}.yaml").write_text("task: {name: same}")
    with pytest.raises(CallerMistake, match=r"The task same is in .*a\.yaml and .*b\.yaml") as caught:
        find_task("same", Settings(home=tmp_path), environ={})
    assert caught.value.code == "two_tasks"


def test_a_broken_file_does_not_hide_the_others_and_is_named_when_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "bad.yaml").write_text("task: [")
    (tmp_path / "tasks" / "good.yaml").write_text("task: {name: good}")
    assert find_task("good", Settings(home=tmp_path), environ={}).document.name == "good"
    with pytest.raises(NotFound, match=r"bad\.yaml cannot be read; see outlast config check"):
        find_task("bad", Settings(home=tmp_path), environ={})


def test_a_file_hides_the_built_in_task_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "mine.yaml").write_text("task: {name: chat, description: mine, workflow: chat}")
    assert find_task("chat", Settings(home=tmp_path), environ={}).document.description == "mine"


def test_a_file_without_a_task_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("name: x")
    with pytest.raises(CallerMistake, match=r"name: unknown key here; did you mean task\.name\?"):
        find_task(str(tmp_path / "x.yaml"), Settings(home=tmp_path), environ={})


def test_a_caller_from_outside_names_tasks_and_reads_no_files() -> None:
    path = str(DOCUMENTS / "tasks" / "market_research.yaml")
    with pytest.raises(NotFound, match="There is no task named"):
        find_task(path, Settings(home=DOCUMENTS), environ={}, by_name_only=True)
    assert find_task("chat", Settings(home=DOCUMENTS), environ={}, by_name_only=True).file is None


def test_a_task_that_is_read_again_is_as_it_is_written_now_and_parsed_once_for_each_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def noted(text: str, name: str) -> Document:
        parsed.append(text)
        return parse(text, name)

    monkeypatch.setattr(document, "parse", noted)
    for steps in (3, 3, 4):
        assert task_of(tmp_path, f"max_steps: {steps}").document.max_steps == steps
    assert len(parsed) == 2


def test_what_is_set_over_a_task_is_not_set_for_the_next(tmp_path: Path) -> None:
    task_of(tmp_path, "max_steps: 3")
    settings, over = Settings(home=tmp_path), from_options(["task.max_steps=9"])
    assert find_task("it", settings, environ={}, overrides=over).document.max_steps == 9
    assert find_task("it", settings, environ={}).document.max_steps == 3
