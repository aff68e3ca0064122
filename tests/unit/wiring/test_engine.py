"""What an engine does beside its runs."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from outlast.domain.ids import LOCAL_USER
from outlast.ports.queue import Enqueue
from outlast.runs import contained
from outlast.runs.remembering.queue import MEMORY
from outlast.wiring import engine as engine_module
from outlast.wiring.engine import Engine
from outlast.wiring.settings.load import load
from tests.patience import PATIENCE_SECONDS


class Deaf:
    """A memory that never answers and, told to stop, goes on until `gate` is open."""

    def __init__(self, gate: asyncio.Event, *, stops: bool) -> None:
        self._gate, self._stops = gate, stops
        self.was_asked = False

    async def expire(self, *arguments: Any) -> Any:
        self.was_asked = True
        while not self._gate.is_set():
            try:
                await self._gate.wait()
            except asyncio.CancelledError:
                if self._stops:
                    raise

    def __getattr__(self, name: str) -> Any:
        return self.expire


@pytest.mark.parametrize("how", ["stops", "does not stop", "is interrupted"])
async def test_a_memory_that_never_answers_holds_up_nobody_who_has_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(
        engine_module, "REMEMBER_SECONDS", PATIENCE_SECONDS if how == "is interrupted" else 0.05
    )
    monkeypatch.setattr(contained, "STOP_SECONDS", 0.05)
    (tmp_path / "outlast.yaml").write_text("harness: {persistence: {backend: memory}}\n")
    engine = Engine(load(tmp_path / "outlast.yaml"))
    await engine.open()
    gate = asyncio.Event()
    asyncio.get_running_loop().call_later(PATIENCE_SECONDS, gate.set)
    assert engine.memory is not None
    deaf = Deaf(gate, stops=how == "stops")
    object.__setattr__(engine.memory, "store", deaf)
    await engine.store.commit([Enqueue(MEMORY, "upkeep", await engine.store.now(), LOCAL_USER)])
    remembering = asyncio.create_task(engine.remember("upkeep"))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not deaf.was_asked:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0)
    if how == "is interrupted":
        remembering.cancel()
    await asyncio.wait({remembering})
    assert not gate.is_set()
    gate.set()
    with suppress(asyncio.CancelledError):
        await remembering
    await engine.close()
