"""The breaker: an endpoint that failed several times in a row is left alone for a while."""

import asyncio
from collections.abc import Sequence

import pytest

from outlast.adapters.providers.breaker import Breaker, Circuit
from outlast.domain.errors import ModelCallFailed, ModelFault
from outlast.domain.message import Message
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest, Observer, ToolSchema

REQUEST = ModelRequest(call_id="m1", purpose="chat", role="executor", model="m", messages=[])


class Endpoint:
    """Answers, or fails with its fault; counts how often it was asked."""

    def __init__(self, fault: ModelFault | None) -> None:
        self.fault: ModelFault | None = fault
        self.asked = 0
        self.gate: asyncio.Event | None = None

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        self.asked += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise ModelCallFailed(self.fault, "away")
        return ModelAnswer("yes")

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        return 3

    async def close(self) -> None:
        self.asked = -1


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _ignore(delta: Delta) -> None:
    pass


async def _fails(breaker: Breaker) -> ModelCallFailed:
    with pytest.raises(ModelCallFailed) as caught:
        await breaker.answer(REQUEST, _ignore)
    return caught.value


async def test_after_five_failures_in_a_row_the_endpoint_is_not_asked_for_half_a_minute() -> None:
    endpoint, clock = Endpoint("unreachable"), Clock()
    breaker = Breaker(endpoint, Circuit(clock=clock))
    for _ in range(5):
        assert (await _fails(breaker)).fault == "unreachable"
    clock.now += 10
    refused = await _fails(breaker)
    assert (refused.fault, refused.retry_after_seconds, endpoint.asked) == ("overload", 20.0, 5)


async def test_one_call_tries_it_again_while_others_wait_and_an_answer_closes_it() -> None:
    endpoint, clock = Endpoint("timeout"), Clock()
    breaker = Breaker(endpoint, Circuit(failures=2, clock=clock))
    await _fails(breaker)
    await _fails(breaker)
    clock.now += 31
    endpoint.fault, endpoint.gate = None, asyncio.Event()
    trial = asyncio.create_task(breaker.answer(REQUEST, _ignore))
    await asyncio.sleep(0)
    assert (await _fails(breaker)).fault == "overload"
    endpoint.gate.set()
    assert (await trial).text == "yes"
    assert (await breaker.answer(REQUEST, _ignore)).text == "yes"
    assert endpoint.asked == 4


async def test_a_trial_that_fails_opens_it_again_and_one_that_is_cancelled_lets_the_next_try() -> None:
    endpoint, clock = Endpoint("overload"), Clock()
    breaker = Breaker(endpoint, Circuit(failures=1, clock=clock))
    await _fails(breaker)
    clock.now += 31
    await _fails(breaker)
    assert (await _fails(breaker)).retry_after_seconds == 30.0
    assert endpoint.asked == 2
    clock.now += 31
    endpoint.fault, endpoint.gate = None, asyncio.Event()
    trial = asyncio.create_task(breaker.answer(REQUEST, _ignore))
    await asyncio.sleep(0)
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    endpoint.gate.set()
    assert (await breaker.answer(REQUEST, _ignore)).text == "yes"


@pytest.mark.parametrize("fault", ["rate_limit", "auth", "bad_request", "context_exceeded", "cut_stream"])
async def test_faults_that_say_nothing_of_the_endpoint_never_open_it(fault: ModelFault) -> None:
    endpoint = Endpoint(fault)
    breaker = Breaker(endpoint, Circuit(failures=2))
    for _ in range(6):
        assert (await _fails(breaker)).fault == fault
    assert endpoint.asked == 6


async def test_everything_else_is_the_providers() -> None:
    endpoint = Endpoint(None)
    breaker = Breaker(endpoint, Circuit())
    assert breaker.count_tokens([], ()) == 3
    await breaker.close()
    assert endpoint.asked == -1


async def test_what_one_asker_found_out_others_of_the_process_know() -> None:
    endpoint, circuit = Endpoint("unreachable"), Circuit(failures=2)
    for _ in range(2):
        await _fails(Breaker(endpoint, circuit))
    assert (await _fails(Breaker(endpoint, circuit))).fault == "overload"
    assert endpoint.asked == 2
