"""Reports cite what was read, word for word, and nothing else."""

import asyncio
from pathlib import Path
from typing import Any

from outlast.domain.report import Report
from outlast.domain.task import Limits
from outlast.ports.provider import ModelAnswer, ModelRequest
from outlast.ports.tool import ReadSource, ToolResult, tool
from outlast.service.show import read_report
from tests.law import law
from tests.unit.runs.parts import (
    ask_for,
    call,
    conclude,
    in_turn,
    plan,
    report,
    results,
    roles,
    say,
    subtask,
    subtask_of,
    turn,
)
from tests.unit.runs.props import find, page
from tests.unit.runs.stage import Stage, soon, staged


def finding(url: str, quote: str = "", **more: Any) -> dict[str, Any]:
    return {"claim": f"{url} is so", "sources": [url], "quote": quote or f"{url} is so", **more}


def reading(*urls: str) -> Any:
    """An executor that reads pages and concludes one claim of each."""
    return in_turn(
        ask_for(*(call("page", url=url) for url in urls)), conclude(*(finding(url) for url in urls))
    )


async def written(stage: Stage, run: str) -> Report:
    made = await read_report(stage.store, await stage.state(run))
    assert made is not None
    return made


def claims_of(made: Report) -> list[Any]:
    return [claim for section in made.sections for claim in section.claims]


def assert_sound(made: Report) -> None:
    """No citation dangles, none is unused, none is there twice, and numbers follow first use."""
    cited = [name for claim in claims_of(made) for name in claim.sources]
    listed = [source.id for source in made.sources]
    assert set(cited) == set(listed)
    assert len(set(listed)) == len(listed)
    assert len({source.url for source in made.sources}) == len(made.sources)
    assert list(dict.fromkeys(cited)) == [f"S{number}" for number in range(1, len(listed) + 1)]
    assert all(len(set(claim.sources)) == len(claim.sources) for claim in claims_of(made))


@law("PLAN-4.a", "PLAN-4.e", "PLAN-4.f")
async def test_every_claim_leads_to_sources_and_steps_and_each_source_to_its_query(tmp_path: Path) -> None:
    model = roles(
        execute=in_turn(
            ask_for(call("find", query="facts")),
            ask_for(call("page", url="http://x/facts")),
            conclude(finding("http://x/facts", confidence=0.8)),
        ),
        report=report({"text": "It is so.", "conclusions": ["s1.1"]}),
    )
    async with staged(tmp_path, model, find, page, workflow="research") as stage:
        run = await stage.play()
        made = await written(stage, run)
        assert_sound(made)
        claim, source = claims_of(made)[0], made.sources[0]
        assert claim.confidence == 0.8
        assert claim.steps == (source.step,)
        assert source.quote == "http://x/facts is so"
        assert source.found_by is not None
        assert source.found_by.query == "facts"
        assert source.found_by.step < source.step


@law("PLAN-4.g", "PLAN-4.j")
async def test_what_was_not_read_cannot_be_cited(tmp_path: Path) -> None:
    model = roles(
        execute=reading("http://a"),
        report=report(
            {"text": "Supported.", "conclusions": ["s1.1", "s1.1"], "sources": ["http://nowhere"]},
            {"text": "By source.", "sources": ["http://a", "http://a", "http://nowhere"]},
            {"text": "Invented.", "sources": ["http://nowhere", "s-0000000000"]},
            {"text": "Misnamed.", "conclusions": ["s9.9"]},
            {"text": "Bare."},
        ),
    )
    async with staged(tmp_path, model, page, workflow="research") as stage:
        run = await stage.play()
        made = await written(stage, run)
        assert_sound(made)
        assert [claim.text for claim in claims_of(made)] == ["Supported.", "By source."]
        for text in ("Invented.", "Misnamed.", "Bare."):
            assert any(text in limit for limit in made.limits)


@law("PLAN-4.h", "PLAN-4.i")
async def test_a_quote_is_checked_against_the_text_white_space_aside(tmp_path: Path) -> None:
    quotes = {
        "s1": "It  says\nthat http://a is so.",
        "s2": "It says that http://a is false.",
        "s3": "",
    }

    def work(request: ModelRequest) -> ModelAnswer:
        if turn(request) == 0:
            return ask_for(call("page", url="http://a"))
        name = subtask_of(request)
        return conclude({"claim": f"claim of {name}", "sources": ["http://a"], "quote": quotes[name]})

    async with staged(tmp_path, roles(execute=work, report=say("no")), page, workflow="research") as stage:
        run = await stage.play()
        made = await written(stage, run)
        assert_sound(made)
        texts = [claim.text for claim in claims_of(made)]
        assert texts == ["claim of s1", "claim of s3"]
        assert claims_of(made)[0].quote == quotes["s1"]
        assert any("claim of s2" in limit for limit in made.limits)
        state = await stage.state(run)
        assert [one.is_supported for item in state.plan for one in item.conclusions] == [True, False, True]


async def test_the_source_a_quote_stands_in_comes_first(tmp_path: Path) -> None:
    model = roles(
        execute=in_turn(
            ask_for(call("page", url="http://a"), call("page", url="http://b")),
            conclude({"claim": "c", "sources": ["http://a", "http://b"], "quote": "http://b is so"}),
        ),
        report=say("no"),
    )
    async with staged(tmp_path, model, page, workflow="research") as stage:
        run = await stage.play()
        made = await written(stage, run)
        assert_sound(made)
        assert [source.url for source in made.sources] == ["http://b", "http://a"]
        assert made.sources[0].quote == "http://b is so"


@law("RUN-3.e", "RUN-3.f")
async def test_numbers_do_not_depend_on_which_subtask_was_faster(tmp_path: Path) -> None:
    async def played(slow: str) -> Report:
        rest = asyncio.Event()
        done: list[str] = []

        async def work(request: ModelRequest) -> ModelAnswer:
            name = subtask_of(request)
            if turn(request) == 0:
                return ask_for(call("page", url="http://shared"), call("page", url=f"http://{name}"))
            if name == slow:
                await soon(rest)
            done.append(name)
            if len(done) == 2:
                rest.set()
            return conclude(finding("http://shared"), finding(f"http://{name}"))

        async with staged(
            tmp_path, roles(execute=work, report=say("no")), page, workflow="research"
        ) as stage:
            return await written(stage, await stage.play())

    first, second = await played("s1"), await played("s3")
    assert_sound(first)
    assert [(source.id, source.url) for source in first.sources] == [
        (source.id, source.url) for source in second.sources
    ]
    assert [claim.text for claim in claims_of(first)] == [claim.text for claim in claims_of(second)]


@law("PLAN-4.c")
async def test_a_report_is_labelled_in_the_language_of_the_question(tmp_path: Path) -> None:
    model = roles(execute=conclude(open_questions=["何时？"]), report=say("no"))
    async with staged(tmp_path, model, workflow="research") as stage:
        made = await written(stage, await stage.play("什么是耐久执行？"))
        assert made.language == "zh"
        assert made.summary == "没有找到能回答该问题的内容。"
        assert "未决问题：何时？" in made.limits
        assert any("撰写者" in limit for limit in made.limits)


async def test_a_report_that_names_nothing_there_is_goes_back_to_its_writer_with_the_ids(
    tmp_path: Path,
) -> None:
    drafts = in_turn(
        report({"text": "Bad.", "conclusions": ["s7.7"]}), report({"text": "Good.", "conclusions": ["s1.1"]})
    )
    async with staged(
        tmp_path, roles(execute=reading("http://a"), report=drafts), page, workflow="research"
    ) as stage:
        run = await stage.play()
        told = next(
            results(request)[-1].text
            for request in stage.requests
            if request.purpose == "report" and turn(request)
        )
        assert "s1.1" in told
        assert [claim.text for claim in claims_of(await written(stage, run))] == ["Good."]


async def test_a_page_another_subtask_read_can_be_cited_and_one_nobody_read_cannot(tmp_path: Path) -> None:
    def work(request: ModelRequest) -> ModelAnswer:
        name = subtask_of(request)
        if name == "s1" and turn(request) == 0:
            return ask_for(call("page", url="http://a"))
        return conclude(finding("http://a"), finding("http://never"))

    chain = plan(subtask("s1"), subtask("s2", depends_on=["s1"]), subtask("s3", depends_on=["s1"]))
    model = roles(plan=chain, execute=work, report=say("no"))
    async with staged(tmp_path, model, page, workflow="research", limits=Limits(max_steps=99)) as stage:
        made = await written(stage, await stage.play())
        assert_sound(made)
        assert [source.url for source in made.sources] == ["http://a"]


async def test_titles_and_texts_of_pages_are_kept_as_read_at_first(tmp_path: Path) -> None:
    texts = iter(["first text", "second text", "third text"])

    @tool(effect="read", cache_seconds=0)
    async def changing(url: str) -> ToolResult:
        """Read a page that changes."""
        text = next(texts)
        return ToolResult(True, text, read=[ReadSource(url, text, text)])

    model = roles(
        execute=in_turn(
            ask_for(call("changing", url="http://a")),
            conclude({"claim": "c", "sources": ["http://a"], "quote": "first text"}),
        ),
        report=say("no"),
    )
    async with staged(tmp_path, model, changing, workflow="research", max_concurrent_subtasks=1) as stage:
        made = await written(stage, await stage.play())
        assert_sound(made)
        assert made.sources[0].title == "first text"
