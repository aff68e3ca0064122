"""What a model saw is made again from the journal, message by message, with the reason of every part."""

from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.errors import CallerMistake, NotFound
from outlast.domain.events import ContextSummarised, ModelRequested
from outlast.domain.task import Limits
from outlast.ports.provider import ModelRequest
from outlast.runs.lines import Kind
from outlast.service import signals
from outlast.service.contexts import REASONS, SECTIONS, context_at
from outlast.wiring.counting import count_tokens
from tests.law import law
from tests.unit.runs.notes import long_page, note, reader, staged_for
from tests.unit.runs.parts import ask_for, call, conclude, in_turn, roles, say
from tests.unit.runs.stage import Stage, staged


def seen(request: ModelRequest) -> list[tuple[str, str]]:
    return [(message.speaker, message.text) for message in request.messages]


def rebuilt(context: dict[str, Any]) -> list[tuple[str, str]]:
    messages: list[tuple[str, str]] = []
    for speaker, parts in groupby(context["parts"], key=lambda part: part["speaker"]):
        texts = [part["text"] for part in parts]
        messages += (
            [(speaker, "\n\n".join(texts))] if speaker == "user" else [(speaker, text) for text in texts]
        )
    return messages


async def contexts_of(stage: Stage, run: str) -> list[dict[str, Any]]:
    asked = [one for one in await stage.history(run) if isinstance(one.event, ModelRequested)]
    return [await context_at(stage.store, run, one.position, count_tokens) for one in asked]


@law("MEM-1.a")
async def test_every_context_of_a_run_with_summaries_is_what_the_model_saw(tmp_path: Path) -> None:
    async with staged_for(tmp_path, reader(20), context_max_tokens=2_500) as stage:
        await stage.play("first", thread_id="t-1")
        stage.requests.clear()
        run = await stage.start("second", thread_id="t-1")
        await signals.say(stage.store, run, "ann", "In euros.", pin=True)
        await stage.work(run)
        contexts = await contexts_of(stage, run)
        assert len(contexts) == len(stage.requests) > 20
        assert await stage.events(run, ContextSummarised)
        assert all(context["is_as_recorded"] for context in contexts)
        assert [rebuilt(context) for context in contexts] == [seen(request) for request in stage.requests]
        kinds = {part["kind"] for context in contexts for part in context["parts"]}
        assert kinds >= {
            "system",
            "said",
            "pinned",
            "request",
            "earlier",
            "spoken",
            "observed",
            "summary",
            "compress",
        }


@law("MEM-1.a")
async def test_every_context_of_a_research_is_what_its_model_saw(tmp_path: Path) -> None:
    model = roles(
        execute=in_turn(ask_for(call("note", n=1)), ask_for(call("note", n=2)), conclude("It is so."))
    )
    async with staged(tmp_path, model, note, workflow="research", limits=Limits(max_steps=60)) as stage:
        run = await stage.play()
        contexts = {context["call"]: context for context in await contexts_of(stage, run)}
        assert len(contexts) == len(stage.requests) >= 10
        assert all(context["is_as_recorded"] for context in contexts.values())
        for request in stage.requests:
            assert rebuilt(contexts[request.call_id]) == seen(request)


async def test_the_budget_split_adds_up_to_what_the_context_takes(tmp_path: Path) -> None:
    async with staged(
        tmp_path, in_turn(ask_for(call("long_page", url="http://a")), say("Yes.")), long_page
    ) as stage:
        run = await stage.play()
        context = (await contexts_of(stage, run))[-1]
        request = stage.requests[-1]
        used = context["used_tokens"]
        assert used["tools"] == count_tokens((), request.tools) > 0
        assert abs(sum(used.values()) - count_tokens(request.messages, request.tools)) <= 4 * len(used)
        assert used["recent"] > 500
        assert context["max_tokens"] == 24_000
        assert context["tools"] == ["long_page"]


async def test_a_changed_text_is_not_as_recorded(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        run = await stage.play("How are you?")
        position = next(
            one.position for one in await stage.history(run) if isinstance(one.event, ModelRequested)
        )
        assert (await context_at(stage.store, run, position, count_tokens))["is_as_recorded"]
        spoil = "UPDATE events SET body = replace(body, 'How are you?', 'Who are you?')"
        await stage.store._writes.do(lambda session: session.connection.execute(spoil).rowcount)  # type: ignore[attr-defined]
        assert not (await context_at(stage.store, run, position, count_tokens))["is_as_recorded"]


async def test_an_event_that_asks_no_model_has_no_context(tmp_path: Path) -> None:
    async with staged(tmp_path, in_turn(say("Yes."))) as stage:
        run = await stage.play()
        with pytest.raises(CallerMistake, match="Models were asked at: 5") as refused:
            await context_at(stage.store, run, 1, count_tokens)
        assert refused.value.code == "not_a_model_call"
        newest = await context_at(stage.store, run, -1, count_tokens)
        assert newest == await context_at(stage.store, run, 5, count_tokens)
        with pytest.raises(NotFound):
            await context_at(stage.store, "r-nowhere", 1, count_tokens)


def test_every_kind_of_line_has_a_reason_and_a_part_of_the_budget() -> None:
    assert set(REASONS) == set(Kind)
    assert sorted(kind for kinds in SECTIONS.values() for kind in kinds) == sorted(Kind)
