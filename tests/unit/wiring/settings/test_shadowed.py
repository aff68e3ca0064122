"""The settings of a shadow: steps that choose something, and a variant laid over the rest."""

from pathlib import Path

import pytest

from outlast.domain.errors import CallerMistake
from outlast.domain.shadow import selector_in
from outlast.wiring.settings.check import check
from outlast.wiring.settings.load import load
from outlast.wiring.settings.pin import pin, pinned_settings
from outlast.wiring.settings.repin import pinned_under
from outlast.wiring.settings.shadowed import varied
from outlast.wiring.settings.task_files import find_task
from outlast.wiring.settings.tree import Settings

KNOWN = ["web_search", "web_fetch", "summarize", "write_report", "remember", "recall", "mail"]


def settings_of(folder: Path, document: str) -> Settings:
    (folder / "outlast.yaml").write_text(document)
    (folder / "tasks").mkdir(exist_ok=True)
    (folder / "tasks/t.yaml").write_text("task: {name: t, tools: [web_search]}\n")
    return load(directory=folder, environ={})


@pytest.mark.parametrize(
    "text",
    [
        "tool:web_search",
        "tool:jobs:start",
        "tool:jobs:*",
        "role:planner",
        "prompt:writer",
        "model",
        "model:m",
        "config",
    ],
)
def test_a_selector_is_written_as_it_was_read(text: str) -> None:
    assert str(selector_in(text)) == text


@pytest.mark.parametrize(
    "text", ["", "tool", "tool:", "role:", "prompt", "config:x", "step:1", "Model", "web_search"]
)
def test_what_is_no_selector_is_refused_with_the_forms_there_are(text: str, tmp_path: Path) -> None:
    assert selector_in(text) is None
    with pytest.raises(
        CallerMistake, match=r"shadow\.steps\.0: it chooses no step; write one of tool:NAME, "
    ):
        settings_of(tmp_path, f'shadow: {{steps: ["{text}"], variant: {{llm: {{temperature: 1}}}}}}')


def test_tools_of_servers_are_chosen_by_either_name() -> None:
    one, every = selector_in("tool:jobs:start"), selector_in("tool:jobs:*")
    assert one is not None
    assert every is not None
    assert [one.takes_tool(name) for name in ("jobs__start", "jobs__stop", "start")] == [True, False, False]
    assert [every.takes_tool(name) for name in ("jobs__start", "jobs__stop", "start")] == [True, True, False]


def test_a_variant_is_laid_over_the_rest_and_has_no_shadow_of_its_own(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path,
        """
        llm: {provider: scripted, model: small, script: a.yaml, temperature: 0.5}
        roles: {planner: {model: large, temperature: 0.1}}
        tools: {paths: [mine], web_search: {timeout_seconds: 3}, mail: {timeout_seconds: 4}}
        shadow:
          steps: [config]
          variant:
            llm: {script: b.yaml}
            roles: {planner: {temperature: 0.9}}
            tools: {web_search: {timeout_seconds: 9}}
        """,
    )
    other = varied(settings)
    assert other.shadow is None
    assert (other.llm.temperature, other.llm.model, str(other.llm.script)) == (
        0.5,
        settings.llm.model,
        "b.yaml",
    )
    assert (other.roles.planner.temperature, other.roles.planner.model) == (0.9, settings.roles.planner.model)
    assert other.tools.by_name["web_search"].timeout_seconds == 9
    assert other.tools.by_name["mail"] == settings.tools.by_name["mail"]
    assert other.tools.paths == settings.tools.paths


def test_of_a_variant_that_asks_somebody_else_key_and_price_are_its_own(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path,
        """
        llm: {provider: openai_compatible, base_url: "http://a", api_key: "${KEY}", model: m, price: {input: 1}}
        search: {provider: tavily, api_key: "${SEARCH_KEY}"}
        shadow:
          steps: [config]
          variant: {llm: {base_url: "http://b"}, search: {provider: brave}}
        """,
    )
    other = varied(settings)
    assert (other.llm.api_key, other.llm.price) == (None, None)
    assert other.search is not None
    assert other.search.api_key is None
    assert other.llm.model == settings.llm.model


def test_the_prompt_alone_is_taken_from_a_variant_and_a_run_is_pinned_to_its_text(tmp_path: Path) -> None:
    (tmp_path / "brief.md").write_text("Be brief.\nAlways.")
    settings = settings_of(
        tmp_path,
        "shadow: {steps: ['prompt:planner'], variant: {llm: {temperature: 2}, roles: {planner: {prompt: brief.md}}}}",
    )
    definition = pin(settings, find_task("t", settings, environ={}), {})
    (tmp_path / "brief.md").write_text("Something else.\n")
    pinned = pinned_settings(definition, settings)
    other = pinned_under(definition, varied(pinned, only_prompts=True), {})
    assert other.roles["planner"].prompt == "Be brief.\nAlways."
    assert other.roles["planner"].temperature == definition.roles["planner"].temperature
    assert other.roles["writer"] == definition.roles["writer"]


@pytest.mark.parametrize(
    ("shadow", "told"),
    [
        (
            "{steps: ['tool:web_serch'], variant: {llm: {temperature: 1}}}",
            "there is no tool web_serch; did you mean web_search?",
        ),
        ("{steps: ['tool:mail'], variant: {llm: {temperature: 1}}}", "no task here has the tool mail"),
        ("{steps: ['tool:jobs:start'], variant: {llm: {temperature: 1}}}", "there is no MCP server jobs"),
        (
            "{steps: ['role:plannr'], variant: {llm: {temperature: 1}}}",
            "there is no role plannr; did you mean planner?",
        ),
        (
            "{steps: ['model:big'], variant: {llm: {temperature: 1}}}",
            "no role asks a model big; they ask offline",
        ),
        (
            "{steps: ['prompt:planner'], variant: {llm: {temperature: 1}}}",
            "the variant has no roles.planner.prompt",
        ),
        ("{steps: [config]}", "nothing differs in it"),
        ("{variant: {llm: {temperature: 1}}}", "no step is chosen"),
        (
            "{steps: [config], variant: {llm: {base_url: '${NOWHERE}'}}}",
            "it needs the environment variable NOWHERE",
        ),
        (
            "{steps: [config], variant: {search: {api_key: written-out}}}",
            "a secret of a variant is not recorded with runs",
        ),
    ],
)
def test_config_check_tells_what_would_keep_a_shadow_from_comparing(
    tmp_path: Path, shadow: str, told: str
) -> None:
    settings_of(tmp_path, f"shadow: {shadow}")
    found = check(directory=tmp_path, environ={}, known_tools=KNOWN)
    assert [problem for problem in found if told in str(problem)], found


def test_config_check_has_nothing_against_a_shadow_that_compares(tmp_path: Path) -> None:
    settings_of(
        tmp_path,
        "shadow_mode: {steps: ['tool:web_search', 'role:writer', model, 'model:offline'], variant: {search: {path: other}}}",
    )
    assert check(directory=tmp_path, environ={}, known_tools=KNOWN) == []
