"""Whatever happens in a conversation, and however often it is folded, it keeps what must stay and its pairs stay whole."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from outlast.adapters.providers.tokens import estimate_request_tokens
from outlast.domain.events import (
    AnyEvent,
    ApprovalAsked,
    BranchOpened,
    ContextFolded,
    ContextSummarised,
    ModelAnswered,
    ModelRequested,
    QuestionAsked,
    Recorded,
    RunClaimed,
    RunStarted,
    Said,
    StateEntered,
    Told,
    ToolAnswered,
)
from outlast.domain.message import Message
from outlast.domain.run import MAIN_BRANCH
from outlast.domain.states import State
from outlast.domain.task import Limits, TaskDefinition
from outlast.domain.tool_call import ToolCall, ToolOutcome
from outlast.runs.conversation import Conversation
from outlast.runs.lines import Kind
from outlast.runs.making_room import is_roomy, make_room, messages_for
from outlast.runs.readings import Readings, read_all
from outlast.runs.scene import Scene
from tests.law import law
from tests.unit.runs.test_messages import FENCED, faults_in

NOW = datetime(2026, 1, 1, tzinfo=UTC)
THREAD = (Message("user", "Earlier question 0."), Message("assistant", "Earlier answer 0. " * 20))
MAX_TOKENS = 1_500
NOTES = {"goal": "g", "decisions": ["did so"], "facts": [{"claim": "so it is", "sources": []}]}

Step = tuple[Any, ...]


@dataclass
class Talk:
    """A conversation and its journal, driven as the drafter drives it."""

    threshold: int
    history: list[Recorded] = field(default_factory=list)
    readings: Readings = field(init=False)
    said: list[str] = field(default_factory=list)
    sent_tokens: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        definition = TaskDefinition(
            name="t",
            workflow="chat",
            limits=Limits(max_steps=10_000),
            context_max_tokens=MAX_TOKENS,
            compression_threshold=self.threshold,
        )
        started = RunStarted(
            thread_id="t-1", user_id="ann", input="q", definition=definition, tools=(), secret="s", today=""
        )
        self.history = [Recorded(1, NOW, started)]
        self.readings = self.anew()
        self.happen(RunClaimed(1, "w"))
        self.happen(StateEntered(State.INIT, State.EXECUTING))
        self.happen(
            BranchOpened(
                branch="main", role="chat", purpose="chat", system="Be kind.", opening="The request."
            )
        )
        self.said = ["Earlier question 0.", "The request."]

    def anew(self) -> Readings:
        return read_all("r-1", self.history, estimate_request_tokens, THREAD)

    def happen(self, event: AnyEvent) -> None:
        recorded = Recorded(len(self.history) + 1, NOW, event)
        self.history.append(recorded)
        self.readings.fold(recorded)

    def say(self, pinned: bool) -> None:
        self.said.append(f"Word number {len(self.said)} of ann.")
        self.happen(Said("ann", self.said[-1], pinned))

    def tell(self) -> None:
        self.happen(Told("main", "engine", "note", "Mind the step. " * 5))

    def turn(self, sizes: list[int], answer: Any, counted: float, said_meanwhile: bool) -> None:
        """A turn of the model: compression first, then the call, then its results, last call first."""
        self._make_room(answer)
        conversation = self.readings.conversations["main"]
        assert not faults_in(conversation.messages), faults_in(conversation.messages)
        self.sent_tokens.append(conversation.tokens)
        intent = self._intent()
        self.happen(intent)
        if said_meanwhile:
            self.say(False)
        calls = tuple(ToolCall(f"c{len(self.history)}-{at}", "look", {"at": at}) for at in range(len(sizes)))
        used = int(estimate_request_tokens(conversation.messages, ()) * counted)
        self.happen(ModelAnswered(call=intent.call, text="Hm. " * 3, tool_calls=calls, input_tokens=used))
        for call, size in reversed(list(zip(calls, sizes, strict=True))):
            self.happen(ToolAnswered(call.id, ToolOutcome(True, "seen " * size)))

    def is_crowded(self) -> bool:
        return self.readings.conversations["main"].tokens > MAX_TOKENS

    def _make_room(self, answer: Any) -> None:
        for _ in range(6):
            branch = self.readings.state.branches["main"]
            self.readings.conversations["main"].settle()
            scene = Scene(self.readings, branch)
            assert not is_roomy(scene.conversation, scene.state.definition) or (
                scene.due is None and not self.is_crowded()
            )
            asked = make_room(self.readings, branch, NOW, self.happen)
            if asked is None:
                return
            assert not faults_in(messages_for(self.readings, asked))
            self.happen(asked)
            problem = None if answer is not None else "no use"
            self.happen(
                ModelAnswered(call=asked.call, text="", value=answer, problem=problem, input_tokens=9)
            )
        raise AssertionError("it never came to rest")

    def _intent(self) -> ModelRequested:
        call = f"m{len(self.history) + 1}"
        return ModelRequested(call=call, branch="main", purpose="chat", role="chat", model="m", generation=1)


turns = st.tuples(
    st.just("turn"),
    st.lists(st.sampled_from([1, 30, 200]), min_size=1, max_size=4),
    st.sampled_from(
        [NOTES, None, {"goal": "", "decisions": [], "facts": []}, {**NOTES, "decisions": ["x" * 500] * 90}]
    ),
    st.sampled_from([0.7, 1.0, 1.5]),
    st.booleans(),
)
steps = st.one_of(turns, turns, turns, st.tuples(st.just("say"), st.booleans()), st.tuples(st.just("tell")))


def played(threshold: int, script: list[Step]) -> Talk:
    talk = Talk(threshold)
    for what, *how in script:
        getattr(talk, what)(*how)
    talk.turn([1], NOTES, 1.0, False)
    return talk


@law("MEM-1.a", "MEM-1.b", "MEM-1.d")
@settings(max_examples=25, deadline=None)
@given(threshold=st.sampled_from([1, 2, 5, 20]), script=st.lists(steps, min_size=1, max_size=25))
def test_a_conversation_keeps_words_pairs_and_budget_and_is_rebuilt_the_same(
    threshold: int, script: list[Step]
) -> None:
    talk = played(threshold, script)
    conversation = talk.readings.conversations[MAIN_BRANCH]
    conversation.settle()
    text = FENCED.sub("", "\n".join(message.text for message in conversation.messages))
    assert [words for words in talk.said if text.count(words) != 1] == []
    assert [words for words in talk.said if words in text] == sorted(talk.said, key=text.index)
    made = [one.event for one in talk.history if isinstance(one.event, ContextSummarised)]
    assert all(one.tokens < one.replaced_tokens for one in made)
    anew = talk.anew().conversations[MAIN_BRANCH]
    anew.settle()
    assert anew.messages == conversation.messages
    assert (anew.digest, anew.tokens, anew.lines) == (
        conversation.digest,
        conversation.tokens,
        conversation.lines,
    )


@law("MEM-1.b")
@settings(max_examples=25, deadline=None)
@given(script=st.lists(turns, min_size=5, max_size=25))
def test_every_context_that_is_sent_is_within_its_budget(script: list[Step]) -> None:
    talk = Talk(20)
    for _, sizes, answer, _, _ in script:
        talk.turn(sizes, answer, 1.0, False)
    assert max(talk.sent_tokens) <= MAX_TOKENS


@law("MEM-1.c")
@settings(max_examples=15, deadline=None)
@given(script=st.lists(steps, min_size=5, max_size=20))
def test_between_compressions_a_context_only_grows(script: list[Step]) -> None:
    talk = played(5, script)
    readings = read_all("r-1", talk.history[:1], estimate_request_tokens, THREAD)
    before: tuple[Message, ...] = ()
    for recorded in talk.history[1:]:
        readings.fold(recorded)
        conversation = readings.conversations.get(MAIN_BRANCH)
        if conversation is None:
            continue
        now = tuple(conversation.messages)
        if not isinstance(recorded.event, ContextFolded | ContextSummarised) and before:
            whole = all(one == other for one, other in zip(before[:-1], now, strict=False))
            assert whole
            assert now[len(before) - 1].text.startswith(before[-1].text)
        before = now


def test_a_summary_names_no_fence_but_its_own() -> None:
    talk = played(2, [("turn", [30], NOTES, 1.0, False)] * 20)
    text = "\n".join(message.text for message in talk.readings.conversations[MAIN_BRANCH].messages)
    opened = re.findall(r"<<untrusted (\w+) from", text)
    assert sorted(opened) == sorted(re.findall(r"<<end (\w+)>>", text))
    assert len(set(opened)) == len(opened)


@law("MEM-1.d", "MEM-2.b")
def test_a_hundred_facts_that_are_said_or_pinned_survive_twenty_foldings_and_five_hundred_steps() -> None:
    talk = Talk(20)
    for step in range(500):
        if step % 5 == 0:
            talk.say(pinned=step % 2 == 0)
        talk.turn([30], NOTES if step % 3 else None, 1.0, said_meanwhile=False)
    made = [one.event for one in talk.history if isinstance(one.event, ContextSummarised)]
    text = "\n".join(message.text for message in talk.readings.conversations[MAIN_BRANCH].messages)
    assert len(made) >= 20
    assert {one.by for one in made} == {"model", "engine"}
    assert len(talk.said) == 2 + 100
    assert [words for words in talk.said[2:] if text.count(words) != 1] == []


def test_of_what_is_told_under_one_key_a_compression_leaves_the_newest() -> None:
    """A later word on a background task takes the place of the earlier one; what came of it stays."""
    conversation = Conversation("chat", estimate_request_tokens)
    conversation.add(1, Kind.SYSTEM, Message("system", "Be kind."))
    conversation.add(2, Kind.REQUEST, Message("user", "Render it."))
    conversation.add(3, Kind.SPOKEN, Message("assistant", "It is begun."))
    conversation.hear(4, "Task a: working", Kind.TASK, key="task:a")
    conversation.hear(5, "Task b: working", Kind.TASK, key="task:b")
    conversation.settle()
    conversation.add(6, Kind.SPOKEN, Message("assistant", "I wait."))
    conversation.hear(7, "Task a: done, 3 pages", Kind.DELIVERED, key="task:a")
    conversation.settle()
    conversation.add(8, Kind.SPOKEN, Message("assistant", "Good."))
    conversation.fold(9, before=8, text="summary")
    shown = "\n".join(message.text for message in conversation.messages)
    assert "Task a: working" not in shown
    assert "Task b: working" in shown
    assert "Task a: done, 3 pages" in shown
    assert [message.speaker for message in conversation.messages] == ["system", "user", "assistant"]


@law("MEM-1.d")
def test_a_summary_names_the_approvals_and_questions_that_wait() -> None:
    talk = Talk(5)
    talk.happen(ApprovalAsked(ticket="a1", subject="call:c12-0", digest="d", shown=None))
    talk.happen(QuestionAsked("q1", "Which colour?"))
    for _ in range(8):
        talk.turn([30], NOTES, 1.0, said_meanwhile=False)
    text = "\n".join(message.text for message in talk.readings.conversations[MAIN_BRANCH].messages)
    assert "approval a1: call:c12-0" in text
    assert "answer q1: Which colour?" in text
