"""What a durable round costs, in counts that no busy machine disturbs. Times are measured by `just bench`."""

import asyncio
import sys
from pathlib import Path
from types import FrameType

import pytest

from bench.probes.ours import begin, engine_in, one_run
from bench.work import Rounds
from tests.law import law

SHORT, LONG = 50, 200

Found = dict[str, float]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Found, Found]:
    """The same work in a short and in a long run, through the whole engine, in a real file."""

    async def measure(rounds: int) -> Found:
        place: Path = tmp_path_factory.mktemp("rounds")
        return await one_run(place, rounds, None)

    return asyncio.run(measure(SHORT)), asyncio.run(measure(LONG))


def test_a_round_takes_at_most_1200_calls_of_python_and_c_in_the_loops_thread(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """What the CPU of a round goes with, counted since a time would tell of other programs too."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    def counted(rounds: int) -> int:
        before = calls
        place: Path = tmp_path_factory.mktemp("calls")
        sys.setprofile(count)
        try:
            asyncio.run(one_run(place, rounds, None))
        finally:
            sys.setprofile(None)
        return calls - before

    counted(1)  # what is made ready once is left out
    assert (counted(LONG) - counted(SHORT)) / (LONG - SHORT) <= 1200


def test_taking_a_run_up_and_ending_it_takes_at_most_2800_calls_beyond_those_of_its_rounds(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    async def shift(rounds: int) -> float:
        """The calls of one of many runs, from when a worker takes it up until it has given it back."""
        engine = engine_in(tmp_path_factory.mktemp("shift"), rounds, Rounds())
        await engine.open()
        for _ in range(SHORT):
            await begin(engine)
        before = calls
        sys.setprofile(count)
        try:
            await engine.shift(SHORT).serve(until_idle=True)
        finally:
            sys.setprofile(None)
            await engine.close()
        return (calls - before) / SHORT

    asyncio.run(shift(1))  # what is made ready once is left out
    one, three = asyncio.run(shift(1)), asyncio.run(shift(3))
    assert one - (three - one) / 2 <= 2800


def more_for_each_round(runs: tuple[Found, Found], key: str) -> float:
    """How much each round of the long run beyond the short one's added: what starting and ending cost is left out."""
    short, long = runs
    return (long[key] * LONG - short[key] * SHORT) / (LONG - SHORT)


def test_a_round_takes_two_statements_and_a_snapshot_now_and_then(runs: tuple[Found, Found]) -> None:
    assert more_for_each_round(runs, "statements") <= 2.05


def test_a_round_is_made_durable_by_two_syncs(runs: tuple[Found, Found]) -> None:
    assert more_for_each_round(runs, "syncs") <= 2.0


@law("STORE-3.a")
def test_stored_text_grows_by_the_payload_and_little_more(runs: tuple[Found, Found]) -> None:
    assert more_for_each_round(runs, "extra_bytes") <= 600


@law("STORE-3.a")
def test_file_grows_by_at_most_two_and_a_half_times_the_payload(runs: tuple[Found, Found]) -> None:
    assert more_for_each_round(runs, "file_in_payloads") <= 2.5
