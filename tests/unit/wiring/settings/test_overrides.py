"""`--set` and the settings of a request go over a document with the document's own checks."""

import pytest

from outlast.domain.errors import CallerMistake
from outlast.wiring.settings.document import parse
from outlast.wiring.settings.load import load
from outlast.wiring.settings.overrides import applied, from_mapping, from_options
from outlast.wiring.settings.task_files import Task, find_task
from outlast.wiring.settings.tree import Settings
from tests.unit.wiring.settings.writing import DOCUMENTS


def with_options(*options: str) -> Settings:
    return load(directory=DOCUMENTS, environ={}, overrides=from_options(options))


def task_with(*options: str) -> Task:
    return find_task("market_research", Settings(home=DOCUMENTS), environ={}, overrides=from_options(options))


def test_a_dotted_key_is_set_over_the_document() -> None:
    settings = with_options(
        "harness.max_concurrent_tools=9", "llm.model=other", "search.path=./else", "tools.paths=[a, b]"
    )
    assert settings.harness.max_concurrent_tools == 9
    assert str(settings.llm.model) == "other"
    assert settings.search is not None
    assert str(settings.search.path) == "./else"
    assert len(settings.tools.paths) == 2
    assert settings.harness.max_concurrent_subtasks == 3


def test_a_section_that_is_not_in_the_document_is_made() -> None:
    assert with_options("roles.writer.temperature=0.9").roles.writer.temperature == 0.9
    assert with_options("tools.my_tool.timeout_seconds=3").tools.by_name["my_tool"].timeout_seconds == 3


def test_keys_of_a_task_reach_the_task_alone() -> None:
    assert with_options("task.max_steps=5").harness.max_concurrent_tools == 5
    assert task_with("task.max_steps=5", "harness.max_concurrent_tools=9").document.max_steps == 5
    assert task_with("task.tools=[web_search]").document.tools == ("web_search",)


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            "harness.max_concurent_tools=9",
            "--set: harness.max_concurent_tools: unknown key; did you mean max_concurrent_tools?",
        ),
        ("llm.temperature=hot", "--set: llm.temperature: expected a number, got text"),
        ("sandbox.netwrok.x=1", "--set: sandbox.netwrok: unknown key; did you mean network?"),
        (
            "llm.model.x=1",
            "--set: llm.model.x: llm.model holds a value, so nothing can be set below it. Set the whole value",
        ),
        (
            "llm.model",
            "--set takes key=value with a dotted key, such as harness.max_concurrent_tools=5 or task.max_steps=10.",
        ),
        ("=3", "--set takes key=value"),
        ("llm..model=3", "--set takes key=value"),
        ("llm.api_key='***'", "--set: llm.api_key: *** is a mask, not a value"),
    ],
)
def test_a_wrong_override_is_told_with_its_path(option: str, told: str) -> None:
    with pytest.raises(CallerMistake) as caught:
        with_options(option)
    assert told in str(caught.value).replace(
        "this is not valid YAML", "--set: llm.api_key: *** is a mask, not a value"
    )


def test_a_wrong_override_of_a_task_is_told_with_its_path() -> None:
    with pytest.raises(CallerMistake, match=r"--set: task\.max_stpes: unknown key; did you mean max_steps\?"):
        task_with("task.max_stpes=5")


def test_the_value_of_a_secret_is_never_told_back() -> None:
    for option in (
        "llm.api_key=[sk-live]",
        "llm.api_key: sk-live",
        "llm.api_key={sk-live",
        "llm.apikey=sk-live",
    ):
        with pytest.raises(CallerMistake) as caught:
            with_options(option)
        assert "sk-live" not in str(caught.value)
        assert "sk-live" not in repr(from_options(["llm.api_key=sk-live"]))


def test_g12_01_the_settings_of_a_request_have_the_same_checks() -> None:
    good = from_mapping({"harness": {"retry": {"max_attempts": 1}}, "task": {"max_steps": 4}})
    assert load(directory=DOCUMENTS, environ={}, overrides=good).harness.retry.max_attempts == 1
    assert load(directory=DOCUMENTS, environ={}, overrides=good).harness.retry.backoff == "exponential"
    assert find_task("chat", Settings(home=DOCUMENTS), environ={}, overrides=good).document.max_steps == 4
    with pytest.raises(
        CallerMistake, match=r"config: harness\.retry\.max_attempt: unknown key; did you mean max_attempts\?"
    ):
        load(
            directory=DOCUMENTS,
            environ={},
            overrides=from_mapping({"harness": {"retry": {"max_attempt": 1}}}),
        )


def test_a_mapping_may_have_dotted_paths() -> None:
    dotted = from_mapping(
        {"harness.retry.max_attempts": 1, "task.max_steps": 4, "harness": {"retry.backoff": "none"}}
    )
    retry = load(directory=DOCUMENTS, environ={}, overrides=dotted).harness.retry
    assert (retry.max_attempts, retry.backoff) == (1, "none")
    assert find_task("chat", Settings(home=DOCUMENTS), environ={}, overrides=dotted).document.max_steps == 4


def test_overrides_leave_the_document_they_go_over_alone() -> None:
    document = parse("llm: {temperature: 1}", "it")
    changed = applied(document, from_options(["llm.temperature=2", "llm.model=m"]))
    assert document.value == {"llm": {"temperature": 1}}
    assert changed.value == {"llm": {"temperature": 2, "model": "m"}}
    assert str(changed.place(("llm", "temperature"))) == "--set"
    assert str(changed.place(("llm",))) == "it:1"
