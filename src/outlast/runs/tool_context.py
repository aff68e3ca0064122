"""What a tool is given: identity from the run, its key, and narrow services bound to the desk."""

from __future__ import annotations

import hashlib

from outlast.domain.errors import ModelCallFailed, ToolTrouble
from outlast.domain.ids import idempotency_key
from outlast.domain.message import Message
from outlast.domain.quick import maker_of
from outlast.domain.run import MAIN_BRANCH, Call, RunState
from outlast.domain.task import Price
from outlast.ports.provider import Delta, ModelRequest
from outlast.ports.tool import ToolContext
from outlast.runs.desk import Desk
from outlast.runs.fences import RULE, fence
from outlast.runs.limits import limit_crossed
from outlast.runs.means import Caller
from outlast.runs.money import DEFAULT_ANSWER_TOKENS, Spending, cost_of, cost_of_failure
from outlast.runs.recall.of_run import MemoryOfRun

_context = maker_of(ToolContext)
_caller = maker_of(Caller)


def context_for(desk: Desk, state: RunState, call: Call, spending: Spending) -> ToolContext:
    """The context of one call."""
    branch, kept, indoors = state.branches[call.branch], desk.means.memory, desk.means.indoors
    key = idempotency_key(state.run_id, call.call.id)
    caller = _caller(
        user_id=state.user_id,
        thread_id=state.thread_id,
        run_id=state.run_id,
        key=key,
        is_user_turn=call.branch == MAIN_BRANCH and not state.tells_of,
    )
    return _context(
        user_id=state.user_id,
        thread_id=state.thread_id,
        run_id=state.run_id,
        call_id=call.call.id,
        idempotency_key=key,
        subtask=branch.subtask,
        workspace=desk.means.workspace,
        artifacts=_Artifacts(desk),
        search=desk.means.search,
        fetch=desk.means.fetch,
        model=_Model(desk, state, call, spending),
        mates=indoors.mates(desk.store, caller) if indoors is not None else None,
        background=indoors.background(desk.store, caller) if indoors is not None else None,
        memory=MemoryOfRun(desk, kept, state, branch) if kept is not None else None,
    )


class _Artifacts:
    """Artifacts of the run: payloads it refers to."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def put(self, content: str | bytes) -> str:
        raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
        digest = hashlib.sha256(raw).hexdigest()
        await self._desk.put(raw, digest)
        return digest

    async def get(self, digest: str) -> bytes | None:
        return (await self._desk.store.read_payloads([digest])).get(digest)


class _Model:
    """A model a tool may ask within the run's budget; what it uses up is counted with the call's result."""

    def __init__(self, desk: Desk, state: RunState, call: Call, spending: Spending) -> None:
        self._desk, self._state, self._call, self._spending = desk, state, call, spending

    async def ask(self, purpose: str, prompt: str, text: str) -> str:
        request = self._request(purpose, prompt, text)
        provider = self._desk.means.provider("executor")
        tokens, usd = self._reserve(provider.count_tokens(request.messages, ()))
        state = self._desk.present() if self._desk.present is not None else self._state
        spent_tokens, spent_usd = self._desk.spent_by_open(state)
        crossed = limit_crossed(state, self._desk.now(), spent_tokens + tokens, spent_usd + usd)
        if crossed is not None and crossed.limit != "max_steps":
            detail = f"The run's limit {crossed.limit} leaves no room for another model call."
            raise ToolTrouble(
                "limit_reached", detail, "Go on without this tool, and answer with what there is."
            )
        try:
            answer = await provider.answer(request, _ignore)
        except ModelCallFailed as failure:
            self._spending.tokens += failure.spent_tokens
            self._spending.usd += cost_of_failure(failure, self._price)
            detail = f"The model could not be asked: {failure.detail}"
            raise ToolTrouble("model_failed", detail, failure.next_step or "Try again later.") from failure
        self._spending.tokens += answer.usage.total_tokens
        self._spending.usd += cost_of(answer.usage, self._price) or 0.0
        return answer.text

    def _reserve(self, input_tokens: int) -> tuple[int, float]:
        """The tokens and US dollars that a call may take."""
        answer = self._state.definition.role("executor").max_tokens or DEFAULT_ANSWER_TOKENS
        return input_tokens + answer, self._price.of(input_tokens, answer) if self._price else 0.0

    @property
    def _price(self) -> Price | None:
        return self._state.definition.role("executor").price

    def _request(self, purpose: str, prompt: str, text: str) -> ModelRequest:
        role = self._state.definition.role("executor")
        fenced = fence(self._call.call.id, self._call.asked_at_step, "tool input", text)
        messages = (Message("system", f"{prompt}\n\n{RULE}"), Message("user", f"{prompt}\n\n{fenced}"))
        return ModelRequest(
            call_id=f"{self._call.call.id}-model",
            purpose=purpose,
            role="executor",
            model=role.model,
            messages=messages,
            temperature=role.temperature,
            max_tokens=role.max_tokens,
        )


def _ignore(delta: Delta) -> None:
    """Pieces of such answers are shown to nobody."""
