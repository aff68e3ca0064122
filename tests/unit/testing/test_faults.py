"""Crashes at every call."""

import asyncio

import pytest

from outlast.testing.faults import Crash, CrashPlan, CrashPoint, Faulty


class Ledger:
    """A port of two verbs, and what it did."""

    def __init__(self) -> None:
        self.written: list[str] = []

    async def write(self, text: str) -> int:
        self.written.append(text)
        return len(self.written)

    def count(self) -> int:
        return len(self.written)


async def work(ledger: Ledger) -> int:
    """Two writes and a count."""
    await ledger.write("a")
    await ledger.write("b")
    return ledger.count()


async def test_a_plan_without_a_point_only_counts() -> None:
    plan, ledger = CrashPlan(), Ledger()
    assert await work(Faulty(ledger, plan, "ledger")) == 2
    assert ledger.written == ["a", "b"]
    assert [f"{point.side} {point.label}" for point in plan.points] == [
        "before ledger.write#1",
        "after ledger.write#1",
        "before ledger.write#2",
        "after ledger.write#2",
        "before ledger.count#1",
        "after ledger.count#1",
    ]
    assert not plan.was_reached


async def test_every_counted_point_can_be_died_at() -> None:
    counted = CrashPlan()
    await work(Faulty(Ledger(), counted, "ledger"))
    left = []
    for point in counted.points:
        ledger, plan = Ledger(), CrashPlan(point)
        with pytest.raises(Crash, match=f"{point.side} {point.label}"):
            await work(Faulty(ledger, plan, "ledger"))
        assert plan.was_reached
        left.append("".join(ledger.written))
    assert left == ["", "a", "a", "ab", "ab", "ab"]


async def test_the_dead_do_nothing_more() -> None:
    ledger = Ledger()
    faulty = Faulty(ledger, CrashPlan(CrashPoint("ledger.write#1", "before")), "ledger")
    with pytest.raises(Crash):
        await faulty.write("a")
    with pytest.raises(Crash, match="dead already"):
        await faulty.write("b")
    with pytest.raises(Crash, match="dead already"):
        faulty.count()
    assert ledger.written == []


async def test_a_call_under_way_never_returns_to_the_dead() -> None:
    go_on = asyncio.Event()

    class Slow(Ledger):
        async def write(self, text: str) -> int:
            await go_on.wait()
            return await super().write(text)

    slow = Slow()
    faulty = Faulty(slow, CrashPlan(CrashPoint("slow.count#1", "after")))
    writing = asyncio.create_task(faulty.write("a"))
    await asyncio.sleep(0)
    with pytest.raises(Crash):
        faulty.count()
    go_on.set()
    outcome = (await asyncio.gather(writing, return_exceptions=True))[0]
    assert isinstance(outcome, Crash)
    assert slow.written == ["a"]


async def test_another_error_is_for_one_call_alone() -> None:
    def fail(point: CrashPoint) -> None:
        raise OSError(f"no disk {point.side}")

    ledger = Ledger()
    faulty = Faulty(ledger, CrashPlan(CrashPoint("ledger.write#1", "before"), fail))
    with pytest.raises(OSError, match="no disk before"):
        await faulty.write("a")
    assert await faulty.write("b") == 1


def test_what_is_no_call_passes_through() -> None:
    ledger = Ledger()
    assert Faulty(ledger, CrashPlan()).written is ledger.written
