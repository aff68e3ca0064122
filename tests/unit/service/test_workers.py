"""Waiting for a store that is not there yet."""

import pytest

from outlast.domain.errors import Broken
from outlast.service.workers import LONGEST_PAUSE_SECONDS, open_when_there


class Away:
    """A store that is away for some tries, or cannot be used for a reason that stays."""

    def __init__(self, times: int, code: str = "store_unavailable") -> None:
        self.left = times
        self.code = code
        self.pauses: list[float] = []
        self.told: list[str] = []

    async def open(self) -> None:
        if self.left:
            self.left -= 1
            raise Broken(self.code, "The store db:5432 does not answer.", "Check that it runs.")

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


async def test_a_store_that_is_away_all_night_is_waited_for_and_told_of_in_few_lines() -> None:
    store = Away(10_000)
    await open_when_there(store.open, store.told.append, store.pause)
    assert len(store.pauses) == 10_000
    assert max(store.pauses[:2]) < 0.3
    assert all(LONGEST_PAUSE_SECONDS / 2 <= seconds <= LONGEST_PAUSE_SECONDS for seconds in store.pauses[20:])
    assert len(store.told) == 15
    assert "db:5432" in store.told[0]
    assert "Check that it runs" in store.told[0]
    assert store.told[-1] == "The store is there."


async def test_a_store_that_is_there_is_not_spoken_of() -> None:
    store = Away(0)
    await open_when_there(store.open, store.told.append, store.pause)
    assert (store.told, store.pauses) == ([], [])


@pytest.mark.parametrize("code", ["store_refused", "store_newer", "store_may_lose", "store_damaged"])
async def test_what_waiting_does_not_change_is_raised_at_once(code: str) -> None:
    store = Away(1, code)
    with pytest.raises(Broken):
        await open_when_there(store.open, store.told.append, store.pause)
    assert store.pauses == []
