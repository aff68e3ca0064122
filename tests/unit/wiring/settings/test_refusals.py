"""What is wrong with a document is told all at once, with file, line, full path and what was probably meant."""

from pathlib import Path

import pytest

from outlast.domain.errors import CallerMistake
from outlast.wiring.settings.load import load
from tests.unit.wiring.settings.writing import said_of, said_of_task, settings_of


def test_g12_01_unknown_keys_are_refused_at_every_level_with_a_suggestion(tmp_path: Path) -> None:
    said = said_of(tmp_path, "sandbox:\n  enable: true\n  netwrok: none\nlimits:\n  max_step: 5")
    assert "outlast.yaml:2: sandbox.enable: unknown key; did you mean enabled?" in said
    assert "outlast.yaml:3: sandbox.netwrok: unknown key; did you mean network?" in said
    assert "outlast.yaml:4: limits: unknown key; limits are keys of a task, such as task.max_steps" in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "harness: {retry: {max_attempt: 1}}",
            "harness.retry.max_attempt: unknown key; did you mean max_attempts?",
        ),
        (
            "tools: {web_fetch: {timeout: 3}}",
            "tools.web_fetch.timeout: unknown key; did you mean timeout_seconds?",
        ),
        ("tools: {my_tool: {cache: 3}}", "tools.my_tool.cache: unknown key; did you mean cache_seconds?"),
        (
            "tools: {web_search: {allow_hosts: [a]}}",
            "tools.web_search.allow_hosts: unknown key here; did you mean",
        ),
        ("tools: {path: [a]}", "tools.path: unknown key; did you mean paths?"),
        ("roles: {planer: {model: x}}", "roles.planer: unknown key; did you mean planner?"),
        ("roles: {planner: {modle: x}}", "roles.planner.modle: unknown key; did you mean model?"),
        ("mcp: {servers: []}", "mcp: unknown key; did you mean mcp_servers?"),
        ("mcp_servers: {a: {ulr: x}}", "mcp_servers.a.ulr: unknown key; did you mean url?"),
        (
            "mcp_servers: {a: {command: x, tasks: [{submit: a, state: b}]}}",
            "mcp_servers.a.tasks.0.status: the key is missing and has no default",
        ),
        ("mcp_servers: {a: {}}", "mcp_servers.a: give either url or command, and only one of them"),
        ("mcp_servers: {a: {url: x, command: y}}", "mcp_servers.a: give either url or command"),
        ("shadow: {variant: {serch: {}}}", "shadow.variant.serch: unknown key; did you mean search?"),
        (
            "shadow: {variant: {search: {provider: x}}}",
            "shadow.variant.search.provider: it must be one of corpus",
        ),
        (
            "shadow: {}\nshadow_mode: {}",
            "shadow_mode: it is another spelling of shadow, which is given too; keep one",
        ),
        (
            "max_concurrent_tools: 3",
            "max_concurrent_tools: unknown key here; did you mean harness.max_concurrent_tools?",
        ),
        ("temperature: 3", "temperature: unknown key here; did you mean llm.temperature?"),
        ("task: {name: x}", "task: unknown key; a task has a file of its own, tasks/NAME.yaml"),
        ("qqq: 3", "qqq: unknown key; there are llm, harness, sandbox"),
        ("llm: {max_tokens: 1.5}", "llm.max_tokens: expected a whole number, got a fraction"),
        (
            "llm: {max_tokens: '9'}",
            "llm.max_tokens: expected a whole number, got text; take the quotes away if it is one",
        ),
        ("llm: {max_tokens: true}", "llm.max_tokens: expected a whole number, got true or false"),
        ("llm: {temperature: 3}", "llm.temperature: it must be at least 0 and at most 2"),
        ("llm: {temperature: }", "llm.temperature: expected a number, got nothing"),
        ("llm: {model: 4}", "llm.model: expected text, got a number; put the value in quotes"),
        (
            "llm: {provider: opnai_compatible}",
            "llm.provider: it must be one of offline, openai_compatible, scripted and replay; did",
        ),
        ("harness: [1]", "harness: expected a mapping of keys, got a list"),
        ("tools: {paths: ./x}", "tools.paths: expected a list, such as [a, b], got text"),
        ("mcp_servers: [a]", "mcp_servers: expected a mapping of names, got a list"),
        ("gateway: {port: 70000}", "gateway.port: it must be at least 0 and at most 65535"),
        (
            "logging: {level: info}",
            "logging.level: it must be one of DEBUG, INFO, WARNING and ERROR; did you mean INFO?",
        ),
        ("tools: {web_search: 4}", "tools.web_search: expected a mapping of keys, got a number"),
        ("- a", "outlast.yaml:1: expected a mapping of keys, got a list"),
    ],
)
def test_a_wrong_document_is_told_with_its_path(text: str, told: str, tmp_path: Path) -> None:
    said = said_of(tmp_path, text)
    assert told in said
    assert "outlast.yaml:" in said
    assert said.endswith("Correct the configuration; docs/reference/settings.md lists every key.")


def test_several_problems_are_told_together_in_the_order_of_their_lines(tmp_path: Path) -> None:
    lines = said_of(tmp_path, "llm:\n  modle: x\n  temperature: hot\ngateway:\n  prot: 1\n").splitlines()
    assert lines[0] == "There are 3 problems:"
    assert [line.partition("outlast.yaml")[2].split(": ")[0] for line in lines[1:]] == [":2", ":3", ":5"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("llm: {model: a}\nllm: {model: b}", "outlast.yaml:2: llm: the key is written twice; keep one"),
        ("llm: !!python/object:os.system x", "outlast.yaml:1: llm: tags (such as !name) are not allowed"),
        ("llm: {model: !secret x}", "llm.model: tags (such as !name) are not allowed"),
        (
            "a: &a {b: 1}\nllm: {<<: *a}",
            "outlast.yaml:2: llm: merge keys (<<) are not supported; write the keys out",
        ),
        ("llm: {? [a] : b}", "outlast.yaml:1: llm: a key must be text"),
        ("llm: {temperature: .nan}", "llm.temperature: a number must be finite"),
        ("llm: {max_tokens: " + "9" * 5000 + "}", "llm.max_tokens: this number cannot be read"),
        ("llm: [", "this is not valid YAML: "),
        (
            "llm: {temperature: ${T}}",
            "this is not valid YAML: expected ',' or '}', but got '{'; a ${NAME} inside { } or [ ] needs quotes",
        ),
        ("llm: {model: a: b}", "outlast.yaml:1: this is not valid YAML"),
        ("llm: 1\n---\nllm: 2", "outlast.yaml:2: this is not valid YAML"),
        ("llm:\n  model: a\x01b", "outlast.yaml:2: there is a character that YAML does not allow"),
        ("x: " + "[" * 5000, "it nests deeper than 32 levels"),
        ("x: " + "[" * 40 + "]" * 40, "it nests deeper than 32 levels"),
        ("x: &x [*x]", "it nests deeper than 32 levels"),
        ("a: " + "b" * 300_000, "the file is larger than 256 KiB"),
    ],
)
def test_what_is_no_plain_document_is_refused(text: str, told: str, tmp_path: Path) -> None:
    assert told in said_of(tmp_path, text)


def test_aliases_that_multiply_are_bounded(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "more than 20000 values (aliases count each time)" in said_of(tmp_path, "\n".join(lines))


def test_aliases_are_otherwise_fine(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "llm: {model: &m big}\nroles: {planner: {model: *m}}")
    assert str(settings.roles.planner.model) == "big"


def test_a_file_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "outlast.yaml").write_bytes(b"llm:\n  model: \xff\n")
    with pytest.raises(CallerMistake, match=r"outlast\.yaml:2: the file is not UTF-8 text"):
        load(directory=tmp_path, environ={})


def test_a_byte_order_mark_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "outlast.yaml").write_bytes(b"\xef\xbb\xbfllm: {temperature: 1}\n")
    assert load(directory=tmp_path, environ={}).llm.temperature == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("max_stpes: 3", "it.yaml:3: task.max_stpes: unknown key; did you mean max_steps?"),
        ("max_steps: 0", "task.max_steps: it must be at least 1 (steps)"),
        (
            "workflow: reserch",
            "task.workflow: it must be research, chat or package.module:function; did you mean research?",
        ),
        ("states: [INIT, PLANING]", "task.states.1: there is no such state; did you mean PLANNING?"),
        ("states: [init, COMPLETED]", "task.states.0: there is no such state; did you mean INIT?"),
        (
            "states: [INIT, COMPLETED]",
            "task.states: no path leads from INIT to COMPLETED through these states",
        ),
        ("states: [INIT, WAITING, COMPLETED]", "task.states: no path leads from INIT to COMPLETED"),
        ("states: [PLANNING, EXECUTING, COMPLETED]", "task.states: no path leads from INIT to COMPLETED"),
        (
            "approvals: [{on: plann}]",
            "task.approvals.0.on: it must be a transition such as PLANNING->EXECUTING, or one of plan",
        ),
        ("approvals: [{}]", "task.approvals.0: give either on or tool, and only one of them"),
        ("approvals: [{on: plan, tool: x}]", "task.approvals.0: give either on or tool"),
        ("approvals: [report]", "task.approvals.0: expected a mapping of keys, got text"),
        (
            "approvals: [{on: 'INIT->COMPLETED'}]",
            "no run goes from INIT to COMPLETED; from INIT it goes to PLANNING",
        ),
        (
            "approvals: [{on: 'COMPLETED->INIT'}]",
            "no run goes from COMPLETED to INIT; from COMPLETED it goes to nowhere",
        ),
        (
            "states: [INIT, EXECUTING, COMPLETED]\napprovals: [{on: 'PLANNING->EXECUTING'}]",
            "task.approvals.0.on: this transition never happens, because task.states leaves one of its states out",
        ),
        (
            "hooks: {on_entre_INIT: 'a:b'}",
            "task.hooks.on_entre_INIT: there is no such point; did you mean on_enter_INIT?",
        ),
        ("hooks: {xyz: 'a:b'}", "task.hooks.xyz: there is no such point; there are on_enter_STATE"),
        ("hooks: {before_tool: check}", "task.hooks.before_tool: it must be module:function"),
        (
            "hooks: {before_tool: human_approval}",
            "human_approval belongs to a transition such as PLANNING->EXECUTING",
        ),
        (
            "hooks: {'INIT->X': human_approval}",
            "task.hooks.INIT->X: it must be a transition such as PLANNING->EXECUTING.",
        ),
        ("tools: [a, b]\nafter: {c: [a]}", "task.after.c: c is not among the task's tools"),
        (
            "tools: [web_search]\nafter: {web_search: [web_serch]}",
            "web_serch is not among the task's tools; did you mean web_search?",
        ),
        ("max_steps: ${STEPS}", "task.max_steps: the variable STEPS is not set"),
    ],
)
def test_a_wrong_task_is_told_with_its_path(text: str, told: str, tmp_path: Path) -> None:
    said = said_of_task(tmp_path, text)
    assert told in said
    assert said.endswith("Correct the task; docs/reference/settings.md lists every key.")
