"""A run is pinned to what it starts with; secrets stay references that each worker resolves."""

import json
from pathlib import Path

import pytest

from outlast.domain.door import stored_form
from outlast.domain.errors import CallerMistake
from outlast.domain.task import ApprovalRule, TaskDefinition
from outlast.wiring.settings.models import llm_of, search_of
from outlast.wiring.settings.overrides import from_mapping
from outlast.wiring.settings.pin import pin, pinned_settings
from outlast.wiring.settings.task_files import find_task
from outlast.wiring.settings.tree import Settings
from tests.law import law
from tests.unit.wiring.settings.writing import DOCUMENTS, settings_of, task_of

ENDPOINT = "llm: {provider: openai_compatible, base_url: 'http://${HOST}', model: m, api_key: '${KEY}'}\n"
ENVIRON = {"HOST": "h", "KEY": "sk-live", "TOKEN": "t-live"}


def pinned(
    settings: Settings, environ: dict[str, str] | None = None, task: str = "research"
) -> TaskDefinition:
    return pin(settings, find_task(task, settings, environ=environ or {}), environ or {})


@law("RUN-7.b")
def test_values_are_resolved_and_secrets_stay_references(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, ENDPOINT, ENVIRON)
    record = pinned(settings, ENVIRON).settings
    assert "sk-live" not in json.dumps(record)
    again = pinned_settings(TaskDefinition(name="x", settings=record), Settings())
    assert again.llm.base_url is not None
    assert again.llm.base_url.resolve({}) == "http://h"
    assert again.llm.api_key is not None
    assert again.llm.api_key.resolve({"KEY": "rotated"}) == "rotated"
    assert again.home == tmp_path


@law("RUN-7.a")
def test_a_run_keeps_its_settings_when_the_configuration_changes(tmp_path: Path) -> None:
    definition = pinned(
        settings_of(tmp_path, "search: {path: ./old}\ntools: {web_fetch: {timeout_seconds: 7}}")
    )
    new = settings_of(
        tmp_path, "search: {path: ./new}\nharness: {persistence: {path: new.db}}\ngateway: {port: 1}"
    )
    again = pinned_settings(definition, new)
    assert str(search_of(again).path) == "./old"
    assert again.tools.web_fetch.timeout_seconds == 7
    assert str(again.harness.persistence.path) == "new.db"
    assert again.gateway.port == 1


def test_the_record_is_plain_json_that_comes_back_as_it_was(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, (DOCUMENTS / "outlast.yaml").read_text("utf-8"))
    record = pinned(settings).settings
    assert json.loads(json.dumps(stored_form(record))) == record
    again = pinned_settings(TaskDefinition(name="x", settings=record), settings)
    assert again.tools == settings.tools
    assert again.harness == settings.harness
    assert again.shadow == settings.shadow
    assert again.background_tasks == settings.background_tasks


def test_what_looks_like_a_reference_in_a_value_is_not_taken_again_by_a_worker(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "llm: {provider: scripted, model: '${M}', script: s.json}")
    definition = pinned(settings, {"M": "a${KEY}"})
    again = pinned_settings(definition, Settings())
    assert definition.roles["planner"].model == "a${KEY}"
    assert again.llm.model is not None
    assert again.llm.model.resolve({"KEY": "no"}) == "a${KEY}"


def test_a_secret_that_was_written_out_is_taken_from_the_worker_and_never_recorded(tmp_path: Path) -> None:
    text = ENDPOINT.replace("${KEY}", "sk-live").replace("${HOST}", "h")
    settings = settings_of(tmp_path, text)
    definition = pinned(settings)
    assert "sk-live" not in repr(definition)
    again = pinned_settings(definition, settings)
    assert again.llm.api_key is not None
    assert again.llm.api_key.resolve({}) == "sk-live"
    with pytest.raises(
        CallerMistake, match=r"llm\.api_key was written out in the configuration the run started with"
    ) as caught:
        pinned_settings(definition, Settings())
    assert caught.value.code == "missing_secret"


def test_secrets_of_parts_that_are_not_used_are_not_asked_for(tmp_path: Path) -> None:
    definition = pinned(
        settings_of(tmp_path, "llm: {provider: offline, api_key: sk-live}\nsearch: {api_key: sk-live}")
    )
    assert pinned_settings(definition, Settings()).llm.api_key is None


def test_only_the_servers_a_task_names_are_recorded(tmp_path: Path) -> None:
    text = "mcp_servers: {a: {url: 'http://x', headers: {Authorization: '${TOKEN}'}}, b: {url: 'http://${MISSING}'}}"
    settings = settings_of(tmp_path, text)
    task = task_of(tmp_path, "tools: ['a:*', web_search]")
    record = pin(settings, task, {}).settings
    again = pinned_settings(TaskDefinition(name="x", settings=record), Settings())
    assert list(again.mcp_servers) == ["a"]
    assert again.mcp_servers["a"].headers["Authorization"].resolve(ENVIRON) == "t-live"


def test_a_role_with_an_address_of_its_own_does_not_get_the_common_key(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path, ENDPOINT + "roles: {planner: {base_url: 'http://other'}, writer: {model: w}}"
    )
    assert llm_of(settings, "planner").api_key is None
    assert str(llm_of(settings, "planner").model) == "m"
    assert llm_of(settings, "writer").api_key is not None


@pytest.mark.parametrize("lacking", ["base_url", "model"])
def test_an_endpoint_without_address_or_model_is_refused(lacking: str, tmp_path: Path) -> None:
    keys = {"base_url": "'http://x'", "model": "m"}
    text = "".join(f", {key}: {value}" for key, value in keys.items() if key != lacking)
    with pytest.raises(CallerMistake, match=rf"llm\.{lacking} is not set, and this run needs it") as caught:
        pinned(settings_of(tmp_path, f"llm: {{provider: openai_compatible{text}}}"))
    assert caught.value.code == "missing_setting"


@pytest.mark.parametrize(
    ("search", "key"),
    [("{provider: searxng}", "url"), ("{provider: tavily}", "api_key"), ("{provider: brave}", "api_key")],
)
def test_a_search_service_without_what_it_needs_is_refused(search: str, key: str, tmp_path: Path) -> None:
    with pytest.raises(CallerMistake, match=rf"search\.{key} is not set, and this run needs it"):
        pinned(settings_of(tmp_path, f"search: {search}"))
    task = task_of(tmp_path, "tools: [summarize]")
    assert pin(settings_of(tmp_path, f"search: {search}"), task, {}).tools == ("summarize",)


def test_prompts_are_read_when_the_run_is_pinned(tmp_path: Path) -> None:
    (tmp_path / "planner.md").write_text("Plan in ${LANGUAGE}.", "utf-8")
    settings = settings_of(tmp_path, "roles: {planner: {prompt: planner.md}, writer: {prompt: Write well.}}")
    definition = pinned(settings)
    assert definition.roles["planner"].prompt == "Plan in ${LANGUAGE}."
    assert definition.roles["writer"].prompt == "Write well."
    settings = settings_of(tmp_path, "roles: {planner: {prompt: planer.md}}")
    with pytest.raises(
        CallerMistake, match=r"roles\.planner\.prompt names the file .*planer\.md, which cannot be read"
    ):
        pinned(settings)


def test_the_context_is_three_quarters_of_a_known_window(tmp_path: Path) -> None:
    assert pinned(settings_of(tmp_path, "llm: {context_window: 100000}")).context_max_tokens == 75_000
    assert pinned(settings_of(tmp_path, "harness: {context: {max_tokens: 9000}}")).context_max_tokens == 9_000


def test_without_search_offline_reads_docs_and_others_ask_the_keyless_web(tmp_path: Path) -> None:
    assert search_of(settings_of(tmp_path, "")).provider == "corpus"
    assert search_of(settings_of(tmp_path, "llm: {provider: scripted}")).provider == "duckduckgo"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", 3600),
        ("timeout_minutes: 5", 300),
        ("max_wall_time: 60", 60),
        ("max_wall_time: 7200", 7200),
        ("timeout_minutes: 5\nmax_wall_time: 60", 60),
        ("timeout_minutes: 1\nmax_wall_time: 90", 60),
    ],
)
def test_the_tighter_of_both_times_holds(text: str, seconds: float, tmp_path: Path) -> None:
    assert pin(Settings(home=tmp_path), task_of(tmp_path, text), {}).limits.max_wall_seconds == seconds


def test_the_hook_human_approval_is_an_approval(tmp_path: Path) -> None:
    task = task_of(
        tmp_path,
        "approvals: [{on: report, expires_seconds: 60}]\n"
        "hooks: {'PLANNING -> EXECUTING': human_approval, 'EXECUTING->COMPLETED': 'a.b:c', before_tool: 'm:f'}",
    )
    definition = pin(Settings(home=tmp_path), task, {})
    assert definition.approvals == (
        ApprovalRule(on="report", expires_seconds=60),
        ApprovalRule(on="PLANNING->EXECUTING"),
    )
    assert definition.hooks == {"EXECUTING->COMPLETED": "a.b:c", "before_tool": "m:f"}


def test_an_approval_that_is_asked_for_twice_is_asked_once(tmp_path: Path) -> None:
    task = task_of(
        tmp_path, "approvals: [{on: 'PLANNING->EXECUTING'}]\nhooks: {'PLANNING->EXECUTING': human_approval}"
    )
    assert pin(Settings(home=tmp_path), task, {}).approvals == (ApprovalRule(on="PLANNING->EXECUTING"),)


def test_a_task_says_its_tools_order_and_limits(tmp_path: Path) -> None:
    task = task_of(
        tmp_path,
        "tools: [a, b, a]\nafter: {b: [a]}\nmax_cost: 1.5\nmax_tool_calls: {a: 2}\non_replan_limit: accept\nmax_tokens_total: 9",
    )
    definition = pin(Settings(home=tmp_path), task, {})
    assert (definition.tools, definition.after, definition.on_replan_limit) == (
        ("a", "b"),
        {"b": ("a",)},
        "accept",
    )
    assert (
        definition.limits.max_cost_usd,
        definition.limits.tool_calls,
        definition.limits.max_tokens_total,
    ) == (1.5, {"a": 2}, 9)


@pytest.mark.parametrize(
    ("text", "tools"), [("tools: []", ()), ("workflow: a.b:c", ()), ("workflow: chat", 5), ("", 4)]
)
def test_a_task_that_names_no_tools_has_those_of_its_workflow(
    text: str, tools: object, tmp_path: Path
) -> None:
    found = pin(Settings(home=tmp_path), task_of(tmp_path, text), {}).tools
    assert found == tools or len(found) == tools


def test_states_may_be_narrowed_as_long_as_the_end_is_reached(tmp_path: Path) -> None:
    task = task_of(
        tmp_path, "states: [INIT, EXECUTING, COMPLETED, WAITING]\napprovals: [{on: 'EXECUTING->WAITING'}]"
    )
    assert pin(Settings(home=tmp_path), task, {}).states == ("INIT", "EXECUTING", "COMPLETED", "WAITING")


def test_who_sets_something_wrong_is_told_to_correct_it_and_an_old_version_that_it_is_old(
    tmp_path: Path,
) -> None:
    definition = pinned(settings_of(tmp_path, ""))
    with pytest.raises(
        CallerMistake, match=r"did you mean harness\.persistence.* Correct what was to be set"
    ):
        pinned_settings(definition, Settings(), from_mapping({"persistence.path": "x"}))
    newer = TaskDefinition(name="x", settings={**definition.settings, "of_tomorrow": {"a": 1}})
    with pytest.raises(CallerMistake, match=r"of_tomorrow.* with the version of outlast that started it"):
        pinned_settings(newer, Settings(), from_mapping({"llm.model": "m"}))
