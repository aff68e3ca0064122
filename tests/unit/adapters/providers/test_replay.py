"""Recordings: what was said comes back as it was said, without secrets, whatever differs from run to run."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.adapters.providers.replay import Recorder, Recording, ReplayProvider
from outlast.adapters.providers.replay.entry import Answered, Entry
from outlast.adapters.providers.replay.hiding import HIDDEN, Hiding
from outlast.adapters.providers.replay.provider import read_recording
from outlast.adapters.providers.scripted import ScriptedProvider
from outlast.domain.errors import CallerMistake, ModelCallFailed
from outlast.domain.message import Message, Usage
from outlast.domain.tool_call import ToolCall
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest, Observer, ToolSchema
from outlast.runs.cache import cached_note
from tests.law import law
from tests.unit.adapters.providers.asking import a_request

SECRET = 'pass"word\\with-ümlaut'


class Model:
    """Says what it is told to, in the pieces it is told to."""

    def __init__(self, *turns: tuple[ModelAnswer, list[Delta]] | ModelCallFailed) -> None:
        self._turns = iter(turns)
        self.is_closed = False

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        turn = next(self._turns)
        if isinstance(turn, ModelCallFailed):
            raise turn
        for delta in turn[1]:
            observe(delta)
        return turn[0]

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        return 7

    async def close(self) -> None:
        self.is_closed = True


def asked(text: str, call: str = "c9-0", **more: object) -> ModelRequest:
    """A request after one tool call."""
    messages = (
        Message("system", "Be kind."),
        Message("assistant", "", (ToolCall(call, "page", {"url": "u"}),)),
        Message("tool", text, tool_call_id=call, tool_name="page"),
    )
    given: dict[str, object] = {
        "call_id": "m1",
        "purpose": "chat",
        "role": "executor",
        "model": "big",
        **more,
    }
    return ModelRequest(messages=messages, **given)  # type: ignore[arg-type]


async def heard(
    provider: Recorder | ReplayProvider, request: ModelRequest
) -> tuple[ModelAnswer, list[Delta]]:
    """The answer, and the pieces it came in."""
    pieces: list[Delta] = []
    answer = await provider.answer(request, pieces.append)
    return answer, pieces


@law("MODEL-3.b")
async def test_an_answer_comes_back_with_its_pieces_usage_reasoning_and_calls(tmp_path: Path) -> None:
    broken = ToolCall("x", "page", {}, problem="no object", raw='{"a')
    answer = ModelAnswer(
        "Héllo 你好",
        (ToolCall("", "page", {"n": 2**60}), broken),
        "hmm",
        Usage(11, 5, 0.25),
        "tool_calls",
        "m-1",
    )
    pieces = [Delta(reasoning="hmm"), Delta("Héllo"), Delta(" 你好")]
    recording = Recording(tmp_path / "r.jsonl")
    recorder = Recorder(Model((answer, pieces)), recording)
    assert await heard(recorder, asked("x")) == (answer, pieces)
    await recorder.close()
    recording.close()
    assert await heard(ReplayProvider.from_file(tmp_path / "r.jsonl"), asked("x")) == (answer, pieces)


async def test_failures_come_back_in_their_order_and_the_last_outcome_stays(tmp_path: Path) -> None:
    trouble = ModelCallFailed(
        "rate_limit",
        "slow down",
        retry_after_seconds=2.5,
        spent_tokens=9,
        spent_output_tokens=4,
        spent_usd=0.1,
    )
    recorder = Recorder(Model(trouble, (ModelAnswer("Now."), [])), Recording(tmp_path / "r.jsonl"))
    with pytest.raises(ModelCallFailed):
        await heard(recorder, asked("x"))
    await heard(recorder, asked("x"))
    replay = ReplayProvider.from_file(tmp_path / "r.jsonl")
    with pytest.raises(ModelCallFailed) as caught:
        await heard(replay, asked("x"))
    failure = caught.value
    assert (failure.fault, failure.retry_after_seconds, failure.spent_tokens) == ("rate_limit", 2.5, 9)
    assert (failure.spent_output_tokens, failure.spent_usd) == (4, 0.1)
    for _ in range(2):
        assert (await heard(replay, asked("x")))[0].text == "Now."


FENCED = (
    "<<untrusted {nonce} from tool page>>\nread r-{run} at {at} on 2026-0{day}-02 {steps}\n<<end {nonce}>>"
)


async def test_what_differs_from_run_to_run_does_not_count(tmp_path: Path) -> None:
    def told(nonce: str, run: str, at: str, day: str, steps: str) -> str:
        return FENCED.format(nonce=nonce, run=run, at=at, day=day, steps=steps)

    first = told("0123456789ab", "a" * 16, "2026-01-02T03:04:05.678901+00:00", "1", '"steps": [1, 2]')
    later = told("ba9876543210", "b" * 16, "2027-11-12T13:14:15Z", "7", '"steps": [31]')
    recorder = Recorder(Model((ModelAnswer("Yes."), [])), Recording(tmp_path / "r.jsonl"))
    await heard(recorder, asked(first))
    replay = ReplayProvider.from_file(tmp_path / "r.jsonl")
    other = asked(later, call="c77-0", model="small", temperature=0.9, max_tokens=3)
    assert (await heard(replay, other))[0].text == "Yes."


@pytest.mark.parametrize(
    "changed",
    [
        asked("another page"),
        asked("x", purpose="plan"),
        asked("x", role="planner"),
        asked("x", response_schema={"type": "object"}),
        asked("x", tools=(ToolSchema("page", "", {}),)),
    ],
)
async def test_what_was_never_asked_is_never_answered_by_something_else(
    tmp_path: Path, changed: ModelRequest
) -> None:
    await heard(Recorder(Model((ModelAnswer("Yes."), [])), Recording(tmp_path / "r.jsonl")), asked("x"))
    with pytest.raises(ModelCallFailed) as caught:
        await heard(ReplayProvider.from_file(tmp_path / "r.jsonl"), changed)
    assert caught.value.code == "replay_diverged"
    assert "--record" in caught.value.next_step


@law("MODEL-3.b")
async def test_secrets_are_in_no_recording_and_a_conversation_that_held_one_replays(tmp_path: Path) -> None:
    token = "sk-" + "a1B2" * 6
    answer = ModelAnswer(f"It is {SECRET} and {token}.", reasoning=f"Bearer {token}")
    recording = Recording(tmp_path / "r.jsonl", [SECRET, "", "abc"])
    await heard(Recorder(Model((answer, [Delta(answer.text)])), recording), asked(f"key: {SECRET} {token}"))
    kept = (tmp_path / "r.jsonl").read_text("utf-8")
    assert json.dumps(SECRET)[1:-1] not in kept
    assert "ümlaut" not in kept
    assert token not in kept
    assert (tmp_path / "r.jsonl").stat().st_mode & 0o777 == 0o600
    replay = ReplayProvider.from_file(tmp_path / "r.jsonl", [SECRET])
    said, pieces = await heard(replay, asked(f"key: {SECRET} {token}"))
    assert said.text == f"It is {HIDDEN} and {HIDDEN}."
    assert "".join(piece.text for piece in pieces) == said.text


@given(st.text(min_size=6), st.text(), st.text())
def test_no_text_keeps_a_secret(secret: str, before: str, after: str) -> None:
    assert secret not in Hiding([secret])(before + secret + after).replace(HIDDEN, "\0")


def test_a_recording_is_gone_on_with_and_another_file_is_left_alone(tmp_path: Path) -> None:
    Recording(tmp_path / "r.jsonl").close()
    Recording(tmp_path / "r.jsonl").close()
    assert (tmp_path / "r.jsonl").read_text().count("\n") == 1
    (tmp_path / "letters.txt").write_text("Dear Ann")
    with pytest.raises(CallerMistake) as caught:
        Recording(tmp_path / "letters.txt")
    assert caught.value.code == "not_a_recording"
    assert (tmp_path / "letters.txt").read_text() == "Dear Ann"
    with pytest.raises(CallerMistake) as caught:
        Recording(tmp_path / "no" / "r.jsonl")
    assert caught.value.code == "unwritable_file"


HEADER = '{"format":"outlast-recording","version":1}\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not begin like a recording"),
        ('{"format":"outlast-recording","version":2}\n', "is of version 2; this outlast reads version 1"),
        (
            '{"format":"outlast-recording","version":2,"new":{}}\n{"other":1}\n',
            "Use the outlast that wrote it",
        ),
        ('{"format":"outlast-recording","version":0}\n', "is of version 0"),
        ('{"format":"outlast-recording","version":"1"}\n', "does not begin like a recording"),
        (HEADER + "{}\n", "broken line 2"),
        (HEADER + '{"key":"k","purpose":"p","role":"r","asked":""}\n', "needs an answer or a failure"),
        (HEADER + "nonsense\n", "broken line 2"),
    ],
)
def test_what_is_no_recording_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(text)
    with pytest.raises(CallerMistake) as caught:
        ReplayProvider.from_file(path)
    assert caught.value.code == "invalid_recording"
    assert said in str(caught.value)


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(HEADER + '{"key":"k","purp')
    ReplayProvider.from_file(path)


def test_a_recording_whose_writer_was_killed_in_the_middle_of_a_line_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    entry = Entry(key="k", purpose="chat", role="executor", asked="", answer=Answered(text="Hi"))
    for _ in range(2):
        recording = Recording(path)
        recording.keep(entry)
        recording.close()
        with path.open("ab") as file:
            file.write(b'{"key":"half')
    assert read_recording(path) == [entry, entry]


def test_a_recording_of_another_version_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text('{"format":"outlast-recording","version":7}\n')
    with pytest.raises(CallerMistake, match="is of version 7") as caught:
        Recording(path)
    assert caught.value.code == "not_a_recording"
    assert path.read_text().count("\n") == 1


async def test_what_no_file_can_hold_is_recorded_as_what_can(tmp_path: Path) -> None:
    """Halves of characters, wherever a provider leaves them."""
    half = "x\ud83d"
    given = ModelAnswer(half, (ToolCall(half, half, {half: half}, raw=half),), reasoning=half, model=half)
    recording = Recording(tmp_path / "talk.jsonl")
    recorder = Recorder(ScriptedProvider(lambda request: given), recording)
    await recorder.answer(a_request(half), lambda _: None)
    recording.close()
    replayed = await ReplayProvider.from_file(tmp_path / "talk.jsonl").answer(a_request(half), lambda _: None)
    assert (replayed.text, replayed.model, replayed.tool_calls[0].arguments) == (
        "x\ufffd",
        "x\ufffd",
        {"x\ufffd": "x\ufffd"},
    )


async def test_arguments_that_no_file_can_hold_are_left_out_and_their_call_is_known_as_broken(
    tmp_path: Path,
) -> None:
    path = tmp_path / "calls.jsonl"
    odd: Any = {"at": {1, 2}}
    answer = ModelAnswer("", (ToolCall("a", "look", odd), ToolCall("b", "look", {"at": float("nan")})))
    recorder = Recorder(Model((answer, [])), Recording(path))
    assert (await heard(recorder, asked("x")))[0] is answer
    again, _ = await heard(ReplayProvider.from_file(path), asked("x"))
    assert [call.arguments for call in again.tool_calls] == [{}, {}]
    assert all("cannot be stored" in (call.problem or "") for call in again.tool_calls)


async def test_everything_else_is_the_providers(tmp_path: Path) -> None:
    model = Model()
    recorder = Recorder(model, Recording(tmp_path / "r.jsonl"))
    assert recorder.count_tokens([], ()) == 7
    await recorder.close()
    assert model.is_closed


async def test_a_result_from_the_cache_asks_the_same_as_one_that_was_fetched(tmp_path: Path) -> None:
    """Which of two parallel subtasks meets the other's result is a matter of moments."""
    await heard(
        Recorder(Model((ModelAnswer("Yes."), [])), Recording(tmp_path / "r.jsonl")), asked("the page")
    )
    replay = ReplayProvider.from_file(tmp_path / "r.jsonl")
    note = cached_note(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    assert (await heard(replay, asked(f"the page\n{note}")))[0].text == "Yes."
