"""The documents of the manual load as they stand, and everything has its documented default."""

from pathlib import Path

from outlast.domain.task import ApprovalRule, Limits, LoopSettings, RetrySettings
from outlast.wiring.settings.load import load
from outlast.wiring.settings.models import llm_of
from outlast.wiring.settings.pin import pin
from outlast.wiring.settings.task_files import find_task, task_names
from tests.unit.wiring.settings.writing import DOCUMENTS, settings_of

ENVIRON = {"LLM_API_KEY": "k-1", "REDIS_URL": "redis://:pw@host/0"}


def test_the_documented_configuration_loads_as_it_stands() -> None:
    settings = load(directory=DOCUMENTS, environ={})
    assert settings.llm.provider == "openai_compatible"
    assert settings.llm.api_key is not None
    assert settings.llm.api_key.resolve(ENVIRON) == "k-1"
    assert settings.harness.max_concurrent_tools == 5
    assert settings.harness.persistence.url is not None
    assert settings.harness.persistence.url.resolve(ENVIRON) == "redis://:pw@host/0"
    assert llm_of(settings, "planner").temperature == 0.3
    assert llm_of(settings, "reviewer").temperature == 0.0
    assert settings.tools.web_fetch.timeout_seconds == 20
    assert [host.resolve({}) for host in settings.tools.web_fetch.allow_hosts] == ["127.0.0.1:8000"]
    assert settings.mcp_servers["jobs"].tasks[0].submit == "start_job"
    assert settings.shadow is not None
    assert settings.shadow.steps == ("tool:web_search",)
    assert settings.home == DOCUMENTS


def test_parts_whose_feature_is_to_come_load_with_a_plain_notice() -> None:
    notices = load(directory=DOCUMENTS, environ={}).notices
    assert [notice for notice in notices if ": sandbox is read but not used yet: " in notice]
    assert not [notice for notice in notices if "memory" in notice or "shadow" in notice]


def test_the_documented_task_loads_as_it_stands() -> None:
    settings = load(directory=DOCUMENTS, environ={})
    pinned = pin(settings, find_task("market_research", settings, environ={}), {})
    assert pinned.limits == Limits(
        max_steps=30, max_wall_seconds=3600, max_tokens_total=400_000, max_replans=2
    )
    assert pinned.approvals == (
        ApprovalRule(on="PLANNING->EXECUTING"),
        ApprovalRule(tool="run_code"),
        ApprovalRule(on="report"),
    )
    assert pinned.hooks == {"on_enter_REVIEWING": "my_hooks:check"}
    assert pinned.roles["planner"].model == "big"
    assert pinned.roles["executor"].model == "your-model-name"
    assert pinned.home == str(DOCUMENTS / "tasks")


def test_chinese_names_and_descriptions_are_kept_and_descriptions_are_not_expanded() -> None:
    settings = load(directory=DOCUMENTS, environ={})
    task = find_task("市场调研", settings, environ={"货币": "x"})
    assert task.document.description == "调研某个细分市场的主要参与者、规模与趋势，价格用 ${货币} 表示"
    assert task_names(settings) == ["chat", "market_research", "research", "市场调研"]


def test_without_a_configuration_everything_has_its_default(tmp_path: Path) -> None:
    settings = load(directory=tmp_path, environ={})
    pinned = pin(settings, find_task("research", settings, environ={}), {})
    assert settings.file is None
    assert settings.home == tmp_path
    assert settings.llm.provider == "offline"
    assert settings.harness.lease_seconds == 15
    assert settings.harness.cache_seconds == 300
    assert settings.harness.context.recall_top_k == 8
    assert settings.path(settings.harness.persistence.path, {}) == tmp_path / ".outlast" / "outlast.db"
    assert pinned.limits == Limits(max_steps=30, max_wall_seconds=3600, max_replans=2)
    assert pinned.loop == LoopSettings(window=20, threshold=3)
    assert pinned.retry == RetrySettings(max_attempts=3, backoff="exponential", base_seconds=1)
    assert (pinned.max_concurrent_tools, pinned.max_concurrent_subtasks) == (3, 3)
    assert (pinned.isolation, pinned.context_max_tokens, pinned.compression_threshold) == (
        "per_subtask",
        24_000,
        20,
    )
    assert pinned.on_replan_limit == "partial"
    assert set(pinned.roles) == {"planner", "executor", "reviewer", "writer", "chat"}
    assert {role.temperature for role in pinned.roles.values()} == {0.3}
    assert pinned.tools == ("web_search", "web_fetch", "summarize", "write_report")


def test_shadow_mode_is_another_spelling_of_shadow(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "shadow_mode: {steps: ['tool:web_search']}")
    assert settings.shadow is not None
    assert settings.shadow.steps == ("tool:web_search",)


def test_an_empty_file_is_the_defaults(tmp_path: Path) -> None:
    assert settings_of(tmp_path, "# nothing here\n").llm.provider == "offline"
    assert settings_of(tmp_path, "llm:\nharness:\n  retry:\n").harness.retry.max_attempts == 3
