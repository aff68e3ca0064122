"""The report of shadow mode: agreement, cost and time of variants, over the runs of a harness with its configuration."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.events import Origin, Recorded, RunForked
from outlast.journal.history import read_history
from outlast.service.periods import Period
from outlast.service.shadow.pairs import pairs_in
from outlast.service.shadow.report import ShadowReports, percentile
from outlast.service.trace import trace_run
from outlast.wiring.engine import Engine, Request
from tests.law import law
from tests.patience import PATIENCE_SECONDS

WEIGH = '''
from outlast.tools import tool

@tool(effect="{effect}", cache_seconds=0)
async def weigh(thing: str) -> list[str]:
    """Weigh a thing."""
    return [thing, "{answer}"]
'''
SCRIPT = """
- {{when: {{turn: 0}}, call: [{{tool: weigh, arguments: {{thing: lead}}}}], repeat: true}}
- {{say: "{words}", repeat: true}}
"""
CONFIG = """
llm: {provider: scripted, model: small, script: small.yaml, price: {input: 1, output: 1}}
harness: {persistence: {backend: memory}}
memory: {enabled: false}
tools: {paths: [small.py]}
"""


@asynccontextmanager
async def engine_of(
    folder: Path, shadow: str, files: Mapping[str, str] | None = None
) -> AsyncIterator[Engine]:
    """An engine whose variant has another script and another tool."""
    (folder / "tasks").mkdir()
    given = {
        "tasks/t.yaml": "task: {name: t, workflow: chat, tools: [weigh]}",
        "outlast.yaml": f"{CONFIG}\nshadow: {shadow}\n",
        "small.yaml": SCRIPT.format(words="It is heavy."),
        "big.yaml": SCRIPT.format(words="It is very heavy."),
        "small.py": WEIGH.format(effect="read", answer="heavy"),
        "big.py": WEIGH.format(effect="read", answer="very heavy"),
        **(files or {}),
    }
    for name, text in given.items():
        (folder / name).write_text(text)
    engine = Engine.from_config(folder / "outlast.yaml")
    await engine.open()
    try:
        yield engine
    finally:
        await engine.close()


async def played(engine: Engine, task: str = "t") -> str:
    """Drive a run and see its comparisons through."""
    begun = await engine.begin(Request(task=task, input="Weigh lead"))
    await worked_on(engine, begun.run_id)
    return begun.run_id


async def worked_on(engine: Engine, run_id: str) -> None:
    await engine.work_on(run_id)
    await engine.builder.settle(PATIENCE_SECONDS)


async def reported(engine: Engine, **wanted: Any) -> dict[str, Any]:
    store = engine.store
    since = await store.now() - timedelta(hours=1)
    return await ShadowReports(store).of(Period(wanted.pop("user", "local"), since, **wanted))


@law("SEE-4.a", "SEE-4.d")
async def test_a_report_compares_agreement_cost_and_time_by_what_was_chosen(tmp_path: Path) -> None:
    shadow = (
        '{steps: ["tool:weigh", "role:chat"], variant: '
        "{llm: {model: big, script: big.yaml, price: {input: 2, output: 2}}, tools: {paths: [big.py]}}}"
    )
    async with engine_of(tmp_path, shadow) as engine:
        runs = [await played(engine), await played(engine)]
        found = await reported(engine)
        assert found["runs"] == 2
        by_model, by_tool = found["variants"]
        assert (by_model["selector"], by_model["comparisons"], by_model["agreed"]) == ("role:chat", 4, 2)
        assert by_model["agreement"] == 0.5
        assert by_model["measures"] == ["calls", "text"]
        assert by_model["overlap"] == pytest.approx((1 + 1 + 2 * 3 / 4) / 4)
        own, other = by_model["own"], by_model["shadow"]
        assert own["tokens"] > 0
        assert other["cost_usd"] == pytest.approx(2 * other["tokens"] / 1e6)
        assert own["cost_usd"] == pytest.approx(own["tokens"] / 1e6)
        assert by_model["spent"] == {"tokens": other["tokens"], "cost_usd": other["cost_usd"]}
        assert by_model["settings"]["llm"]["model"] == "big"
        for side in (own, other):
            assert 0 <= side["p50_ms"] <= side["p95_ms"]
        assert {example["run_id"] for example in by_model["examples"]} == set(runs)
        assert by_model["examples"][0]["step"] == "chat: chat"
        assert by_model["examples"][0]["shadow"] == "It is very heavy."
        assert (by_tool["selector"], by_tool["measures"], by_tool["overlap"]) == (
            "tool:weigh",
            ["list"],
            0.3333,
        )
        [example] = [one for one in by_tool["examples"] if one["run_id"] == runs[0]]
        assert (example["step"], example["own"]) == ('weigh {"thing":"lead"}', '["lead", "heavy"]')
        trace = await trace_run(engine.store, runs[0])
        assert trace[example["seq"] - 1]["kind"] == "ToolAnswered"
        assert trace[example["shadow_seq"] - 1]["kind"] == "ShadowCompared"


@law("SEE-4.b")
async def test_a_variant_whose_tool_has_an_effect_is_reported_as_suppressed(tmp_path: Path) -> None:
    effect = WEIGH.format(effect="once", answer="never")
    shadow = '{steps: ["tool:weigh"], variant: {tools: {paths: [big.py]}}}'
    async with engine_of(tmp_path, shadow, {"big.py": effect}) as engine:
        await played(engine)
        [group] = (await reported(engine))["variants"]
        assert (group["comparisons"], group["suppressed"], group["agreement"]) == (0, 1, None)
        assert group["reasons"] == [{"code": "suppressed", "count": 1}]
        assert (group["own"]["p50_ms"], group["overlap"], group["examples"]) == (None, None, [])


@law("SEE-4.c")
async def test_a_variant_that_cannot_be_built_is_reported_and_the_run_is_none_the_worse(
    tmp_path: Path,
) -> None:
    shadow = (
        '{steps: [config], variant: {llm: {provider: openai_compatible, base_url: "${NOWHERE}", model: m}}}'
    )
    async with engine_of(tmp_path, shadow) as engine:
        told: list[str] = []
        begun = await engine.begin(Request(task="t", input="Weigh lead"), told.append)
        assert told[0].startswith("The shadow will compare nothing, since its variant lacks something: ")
        await worked_on(engine, begun.run_id)
        [group] = (await reported(engine))["variants"]
        assert (group["failed"], group["reasons"]) == (3, [{"code": "missing_variable", "count": 3}])


async def test_reports_are_of_one_owner_one_task_and_only_of_runs_with_a_shadow(tmp_path: Path) -> None:
    shadow = '{steps: ["tool:weigh"], variant: {tools: {paths: [big.py]}}}'
    files = {"tasks/u.yaml": "task: {name: u, workflow: chat, tools: []}"}
    async with engine_of(tmp_path, shadow, files) as engine:
        await played(engine)
        await played(engine, "u")
        assert (await reported(engine))["runs"] == 2
        assert (await reported(engine, task="u"))["variants"] == []
        assert (await reported(engine, user="ann"))["runs"] == 0
        assert (await reported(engine, user=None))["runs"] == 2


async def test_a_fork_is_not_counted_for_what_its_original_compared(tmp_path: Path) -> None:
    shadow = '{steps: ["tool:weigh"], variant: {tools: {paths: [big.py]}}}'
    async with engine_of(tmp_path, shadow) as engine:
        run = await played(engine)
        history = await read_history(engine.store, run)
        assert len(pairs_in(run, history)) == 1
        forked = RunForked(Origin("fork", run, len(history)), "t-2", "00", {}, None)
        assert pairs_in("r-2", [*history, Recorded(len(history) + 1, history[-1].at, forked)]) == []


async def test_a_journal_is_read_again_once_something_was_added(tmp_path: Path) -> None:
    shadow = '{steps: ["tool:weigh"], variant: {tools: {paths: [big.py]}}}'
    async with engine_of(tmp_path, shadow) as engine:
        store = engine.store
        reports, since = ShadowReports(store), await store.now() - timedelta(hours=1)
        counts = []
        for _ in range(2):
            await played(engine)
            counts += [
                group["comparisons"] for group in (await reports.of(Period("local", since)))["variants"]
            ]
        assert counts == [1, 2]


def test_percentiles_are_numbers_that_are_there() -> None:
    assert [percentile([1, 2, 3, 4], percent) for percent in (50, 95, 100)] == [2, 4, 4]
    assert percentile([], 50) is None
