"""`${NAME}` is resolved once, literally, when it is needed, in every value but prompts and descriptions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.domain.errors import CallerMistake
from outlast.wiring.settings.load import load
from outlast.wiring.settings.pin import pin
from outlast.wiring.settings.task_files import find_task
from outlast.wiring.settings.text import Secret, Text
from outlast.wiring.settings.tree import Settings
from tests.unit.wiring.settings.writing import said_of, settings_of, task_of

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
VALUES = st.text(max_size=30)


def test_g12_02_only_references_are_taken_and_values_are_literal(tmp_path: Path) -> None:
    environ = {"KEY": "a$b${C}", "C": "no", "HOME": "/root", "X": "no"}
    settings = settings_of(
        tmp_path,
        """
        llm:
          provider: openai_compatible
          base_url: http://h/${PORT:-8080}
          api_key: ${MISSING}
          model: "pa$$w0rd$HOME${X"
        search: {provider: brave, api_key: "${KEY}"}
        """,
        environ,
    )
    assert settings.llm.model is not None
    assert settings.llm.model.resolve(environ) == "pa$$w0rd$HOME${X"
    assert settings.llm.base_url is not None
    assert settings.llm.base_url.resolve(environ) == "http://h/8080"
    assert settings.search is not None
    assert settings.search.api_key is not None
    assert settings.search.api_key.resolve(environ) == "a$b${C}"
    assert settings.llm.api_key is not None
    with pytest.raises(
        CallerMistake, match=r"llm\.api_key needs the environment variable MISSING, which is not set"
    ):
        settings.llm.api_key.resolve(environ)
    assert [notice for notice in settings.notices if "llm.model keeps a '${'" in notice]


def test_g12_03_references_work_in_every_section_list_and_mapping(tmp_path: Path) -> None:
    environ = {
        "DB": "postgres://u:p@h/d",
        "TOKEN": "t-1",
        "K": "k-1",
        "HOST": "h:1",
        "STEPS": "7",
        "TOOL": "web_search",
    }
    settings = settings_of(
        tmp_path,
        """
        harness: {persistence: {backend: postgres, url: "${DB}"}}
        tools: {paths: ["./${TOOL}"], web_fetch: {allow_hosts: ["${HOST}"]}}
        shadow: {steps: ["tool:${TOOL}"], variant: {search: {url: "http://${HOST}"}}}
        mcp_servers:
          x: {command: "run-${TOOL}", args: ["--k=${K}"], env: {TOKEN: "${TOKEN}"}, tasks: [{submit: "${TOOL}", status: s}]}
          y: {url: "http://${HOST}", headers: {Authorization: "Bearer ${TOKEN}"}}
        """,
        environ,
    )
    server, other = settings.mcp_servers["x"], settings.mcp_servers["y"]
    assert settings.harness.persistence.url is not None
    assert settings.harness.persistence.url.resolve(environ) == "postgres://u:p@h/d"
    assert [argument.resolve(environ) for argument in server.args] == ["--k=k-1"]
    assert server.env["TOKEN"].resolve(environ) == "t-1"
    assert server.tasks[0].submit == "web_search"
    assert other.headers["Authorization"].resolve(environ) == "Bearer t-1"
    assert settings.tools.web_fetch.allow_hosts[0].resolve(environ) == "h:1"
    assert settings.shadow is not None
    assert settings.shadow.steps == ("tool:web_search",)
    assert settings.shadow.variant.values["search"]["url"].resolve(environ) == "http://h:1"
    task = task_of(tmp_path, 'max_steps: "${STEPS}"\ntools: ["${TOOL}"]', environ)
    assert (task.document.max_steps, task.document.tools) == (7, ("web_search",))


def test_prompts_and_descriptions_are_taken_word_for_word(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path, 'roles: {planner: {prompt: "Cost in ${CURRENCY}, $$5"}}', {"CURRENCY": "EUR"}
    )
    assert settings.roles.planner.prompt == "Cost in ${CURRENCY}, $$5"
    assert settings.notices == ()
    assert (
        task_of(tmp_path, "description: in ${CURRENCY}", {"CURRENCY": "EUR"}).document.description
        == "in ${CURRENCY}"
    )


def test_numbers_and_choices_may_be_references(tmp_path: Path) -> None:
    text = 'gateway: {port: "${PORT:-9000}"}\nsandbox: {backend: "${BOX}", enabled: "${ON}"}\nllm: {temperature: "${T}"}'
    settings = settings_of(tmp_path, text, {"BOX": "docker", "ON": "false", "T": "0.5"})
    assert (settings.gateway.port, settings.sandbox.backend, settings.sandbox.enabled) == (
        9000,
        "docker",
        False,
    )
    assert settings.llm.temperature == 0.5
    said = said_of(tmp_path, text, {"BOX": "dokcer", "ON": "perhaps", "T": "1e9"})
    assert (
        "sandbox.backend: it must be one of auto, subprocess, bubblewrap and docker; did you mean docker?"
        in said
    )
    assert "sandbox.enabled: expected true or false, got text" in said
    assert "perhaps" not in said


def test_a_number_whose_variable_is_missing_is_told_by_the_part_that_needs_it(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, 'gateway: {port: "${PORT}"}')
    settings.require("llm", "harness")
    with pytest.raises(CallerMistake, match=r"gateway\.port needs the environment variable PORT"):
        settings.require("gateway")


def test_parts_that_are_not_used_need_no_variables(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path,
        "llm: {provider: offline, api_key: '${A}', base_url: '${B}', model: '${C}'}\ngateway: {token: '${D}'}",
    )
    assert pin(settings, find_task("research", settings, environ={}), {}).roles["planner"].model == "offline"


def test_a_part_that_is_used_names_the_key_and_the_variable_it_lacks(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path, "llm: {provider: openai_compatible, base_url: 'http://x', model: '${MODEL}'}"
    )
    with pytest.raises(CallerMistake) as caught:
        pin(settings, find_task("research", settings, environ={}), {})
    assert caught.value.code == "missing_variable"
    assert str(caught.value) == (
        "llm.model needs the environment variable MODEL, which is not set. "
        "Set MODEL, or write ${MODEL:-...} at llm.model to give a default."
    )


def test_a_default_stands_in_for_an_empty_variable_and_an_empty_secret_is_missing() -> None:
    assert Text("${A:-d}").resolve({"A": ""}) == "d"
    assert Text("x${A}").resolve({"A": ""}) == "x"
    assert Secret("${A:-}").resolve({}) == ""
    with pytest.raises(CallerMistake, match="which is empty"):
        Secret("${A}", "llm.api_key").resolve({"A": ""})


def test_a_reference_in_a_default_is_left_over_and_reported(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "llm: {provider: scripted, script: '${A:-${B}}'}", {"B": "b"})
    assert settings.llm.script is not None
    assert settings.llm.script.resolve({"B": "b"}) == "${A:-b}"
    assert [notice for notice in settings.notices if "outlast.yaml:1: llm.script keeps a '${'" in notice]


@given(
    st.text(alphabet=st.characters(exclude_characters="{"), max_size=40),
    st.dictionaries(NAMES, VALUES, max_size=3),
)
def test_a_text_without_references_stays_as_it_is(text: str, environ: dict[str, str]) -> None:
    assert Text(text).resolve(environ) == text


@given(NAMES, VALUES, st.text(alphabet="ab$} :-", max_size=8), st.text(alphabet="ab${ :-", max_size=8))
def test_a_value_comes_through_literally_whatever_it_is(
    name: str, value: str, before: str, after: str
) -> None:
    environ = {"a": "no", "b": "no", name: value}
    assert Text(f"{before}${{{name}}}{after}").resolve(environ) == f"{before}{value}{after}"
    assert Text(f"${{{name}}}").resolved(environ).resolve({}) == value


@given(st.text(alphabet="${}:-aB_ ", max_size=40))
def test_any_text_resolves_once_what_it_needs_is_there(text: str) -> None:
    environ = dict.fromkeys(Text(text).missing({}), "v")
    assert "v" in Text(text).resolve(environ) or not environ


def test_texts_are_equal_when_written_alike_and_hidden_ones_are_another_kind() -> None:
    assert Text("a", "x") == Text("a", "y")
    assert Text("a") != Secret("a")
    assert hash(Text("a")) == hash(Text("a"))


def test_the_environment_of_the_process_is_used_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outlast.yaml").write_text("gateway: {port: '${THE_PORT}'}")
    monkeypatch.setenv("THE_PORT", "1234")
    assert load(directory=tmp_path).gateway.port == 1234
    assert isinstance(load(directory=tmp_path), Settings)
