"""Many runs, several workers, and somebody who kills the workers; and the person who is asked what came of it."""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from outlast.domain.events import ModelAnswered, Recorded, RunClaimed, StateEntered, ToolAnswered
from outlast.domain.run import RunState
from outlast.domain.states import ENDED, State
from outlast.journal.fold import load_state
from outlast.journal.history import read_history
from outlast.ports.run_rows import RunFilter
from outlast.ports.store import Store
from outlast.runs.calls import DID_HAPPEN, RUN_AGAIN
from outlast.service import signals
from outlast.service.start import Order, start_run
from outlast.service.workers import holders_of_seats
from outlast.wiring.engine import Engine, Request
from tests.patience import PATIENCE_SECONDS

WORKERS = 8
LEASE_SECONDS = 3.0
USERS = ("ann", "bob", "cay")
SKEWED = Path(__file__).with_name("skewed_worker.py")

CONFIG = """
llm: {{provider: scripted, script: script.yaml}}
tools: {{paths: [tools]}}
harness:
  lease_seconds: {lease_seconds}
  max_concurrent_runs: 8
  persistence: {persistence}
"""
TASK = "task: {name: errand, workflow: chat, max_steps: 200, tools: [look, note, pay]}\n"
SCRIPT = """
- call: [{tool: look, arguments: {what: the shop}}, {tool: note, arguments: {what: the address}}]
- call: [{tool: pay, arguments: {what: the bill}}]
- call: [{tool: pay, arguments: {what: the waiter}}, {tool: look, arguments: {what: the door}}]
- say: done
"""
STEPS, PAYMENTS = 4, 2
TOOLS = '''
import asyncio
import json
import os
from pathlib import Path

from outlast.tools import ToolContext, tool

EFFECTS = Path(__file__).resolve().parent.parent / "effects.log"


async def acted(name: str, context: ToolContext) -> str:
    """One line a deed, written in one piece; then a while in which one may be killed."""
    file = os.open(EFFECTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{name} {context.run_id} {context.idempotency_key}\\n".encode())
    os.close(file)
    await asyncio.sleep(0.15)
    return "done"


@tool(effect="read")
async def look(what: str, context: ToolContext) -> str:
    """Look at something."""
    return await acted("look", context)


@tool(effect="idempotent")
async def note(what: str, context: ToolContext) -> str:
    """Write something down under its key."""
    return await acted("note", context)


@tool(effect="once")
async def pay(what: str, context: ToolContext) -> str:
    """Pay for something."""
    return await acted("pay", context)
'''


@dataclass
class Figures:
    """What a soak came to."""

    runs: int
    seconds: float = 0.0
    kills: int = 0
    restarts: int = 0
    came_too_early: int = 0
    claims: int = 0
    unknown: int = 0
    paid_again: int = 0
    repeated_notes: int = 0
    stuck: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.runs} runs in {self.seconds:.0f} s; {self.kills} workers killed, {self.restarts} restarts of the server, "
            f"during which {self.came_too_early} came in vain; "
            f"{self.claims} claims; {self.unknown} payments of unknown outcome, of which {self.paid_again} had not happened; "
            f"{self.repeated_notes} notes written again under their key; {len(self.stuck)} runs asked a person after five claims"
        )


class Soak:
    """A folder with a configuration, an engine on it, and the workers that come and go. `skew_seconds` are given in turn."""

    def __init__(
        self, folder: Path, persistence: str, seed: int, skews_seconds: tuple[float, ...] = ()
    ) -> None:
        self.folder = folder
        self.chance = random.Random(seed)
        self.effects = folder / "effects.log"
        self._skews_seconds = skews_seconds
        self._started = 0
        self._workers: list[subprocess.Popen[bytes]] = []
        for name, text in {
            "outlast.yaml": CONFIG.format(lease_seconds=LEASE_SECONDS, persistence=persistence),
            "tasks/errand.yaml": TASK,
            "script.yaml": SCRIPT,
            "tools/errands.py": TOOLS,
            "effects.log": "",
        }.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "utf-8")

    async def survive(
        self, runs: int, *, restarts: int = 0, restart: Callable[[], None] | None = None
    ) -> Figures:
        """Begin runs, kill a worker every second, restart the server now and then, and see that every run ends."""
        figures, began = Figures(runs), time.monotonic()
        engine = Engine.from_config(self.folder / "outlast.yaml")
        await engine.open()
        try:
            ids = await self._begun(engine, runs)
            async with self._at_work():
                person = asyncio.create_task(self._answer_until_all_ended(engine, ids, figures))
                while not (await asyncio.wait([person], timeout=1.0))[0]:
                    await self._kill_one(engine.store, figures)
                    if restart and figures.restarts < restarts and self._is_time(ids, figures, restarts):
                        restart()
                        figures.restarts += 1
                await person
            figures.seconds = time.monotonic() - began
            await self._check(engine, ids, figures)
        finally:
            await engine.close()
        return figures

    def _is_time(self, ids: list[str], figures: Figures, restarts: int) -> bool:
        share = self._done / len(ids)
        return share > (figures.restarts + 1) / (restarts + 1)

    _done = 0

    @asynccontextmanager
    async def _at_work(self) -> AsyncIterator[None]:
        self._workers = [self._started_worker() for _ in range(WORKERS)]
        try:
            yield
        finally:
            for worker in self._workers:
                worker.kill()
            for worker in self._workers:
                worker.wait(PATIENCE_SECONDS)

    async def _kill_one(self, store: Store, figures: Figures) -> None:
        """Kill a worker that is at work, and start another. On a slow machine half of them must have come in before."""
        seated = {json.loads(holder)["pid"] for holder in await holders_of_seats(store)}
        for place, worker in enumerate(self._workers):
            if worker.poll() is not None:
                log = (self.folder / "workers.log").read_text()
                assert figures.restarts, f"a worker ended by itself: {log[-3000:]}"
                assert "does not answer" in log, "it ended though the server was there when it came in"
                self._workers[place] = self._started_worker()
                figures.came_too_early += 1
        places = [place for place, worker in enumerate(self._workers) if worker.pid in seated]
        if len(places) < WORKERS / 2:
            return
        place = self.chance.choice(places)
        victim = self._workers[place]
        victim.kill()
        victim.wait(PATIENCE_SECONDS)
        self._workers[place] = self._started_worker()
        figures.kills += 1

    def _started_worker(self) -> subprocess.Popen[bytes]:
        command, environ = ["-m", "outlast.cli"], dict(os.environ)
        if self._skews_seconds:
            skew_seconds = self._skews_seconds[self._started % len(self._skews_seconds)]
            command, environ["OUTLAST_TEST_SKEW_SECONDS"] = [str(SKEWED)], str(skew_seconds)
        self._started += 1
        with (self.folder / "workers.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *command, "worker"],
                cwd=self.folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    async def _begun(self, engine: Engine, runs: int) -> list[str]:
        definition = engine.definition(Request(task="errand"))
        _, tools = await engine.builder.settled(definition)
        orders = [
            Order(
                definition=definition,
                tools=tools,
                input=f"errand {number}",
                random=self.chance.randbytes(40),
                user_id=USERS[number % len(USERS)],
            )
            for number in range(runs)
        ]
        return [(await start_run(engine.store, order)).run_id for order in orders]

    async def _answer_until_all_ended(self, engine: Engine, ids: list[str], figures: Figures) -> None:
        """Be the person: of a payment nobody knows about, say what the effects show."""
        open_runs = set(ids)
        watch = engine.store.watch(["queue:runs"])
        while open_runs:
            rows = await engine.store.list_runs(RunFilter(limit=len(ids)))
            open_runs -= {row.run_id for row in rows if State(row.state) in ENDED}
            self._done = len(ids) - len(open_runs)
            for row in rows:
                if row.run_id in open_runs and row.state == State.WAITING:
                    await self._answer(engine, await load_state(engine.store, row.run_id), figures)
            await watch.wait(0.5)
        # A worker may have been killed between the end of a run and giving it back.
        while await engine.store.list_leases("runs") or await engine.store.next_due("runs"):
            await watch.wait(0.5)
        watch.stop()

    async def _answer(self, engine: Engine, state: RunState, figures: Figures) -> None:
        for question in state.open_questions():
            if not question.choices:
                await signals.answer(engine.store, state.run_id, state.user_id, "go on", question.id)
                figures.stuck.append(state.run_id)
                continue
            assert question.call is not None
            was_paid = f"pay {state.run_id} {state.run_id}.{question.call}\n" in self.effects.read_text()
            figures.unknown += 1
            figures.paid_again += not was_paid
            text = DID_HAPPEN if was_paid else RUN_AGAIN
            await signals.answer(engine.store, state.run_id, state.user_id, text, question.id)

    async def _check(self, engine: Engine, ids: list[str], figures: Figures) -> None:
        """Every run ended once and well, no step was done twice, and nothing was paid twice."""
        done: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for line in self.effects.read_text().splitlines():
            name, run, key = line.split(" ")
            done[f"{name} {run}"][key] += 1
        for run in ids:
            row = await engine.store.read_run(run)
            assert row is not None
            assert (row.state, row.outcome, row.is_active) == ("COMPLETED", "full", False), run
            history = await read_history(engine.store, run)
            check_journal(history)
            claims = [one.event.generation for one in history if isinstance(one.event, RunClaimed)]
            figures.claims += len(claims)
            assert list(done[f"pay {run}"].values()) == [1] * PAYMENTS, (run, done[f"pay {run}"])
            assert len(done[f"note {run}"]) == 1, "a note was repeated under another key"
            figures.repeated_notes += done[f"note {run}"].total() - 1


def check_journal(history: list[Recorded]) -> None:
    """Positions without a gap, generations that rise, one end, one answer a step, one result a call."""
    assert [one.position for one in history] == list(range(1, len(history) + 1))
    events = [one.event for one in history]
    claims = [event.generation for event in events if isinstance(event, RunClaimed)]
    assert claims == sorted(set(claims))
    ends = [event for event in events if isinstance(event, StateEntered) and event.target in ENDED]
    assert len(ends) == 1
    answers = [event.call for event in events if isinstance(event, ModelAnswered)]
    assert len(answers) == len(set(answers)) == STEPS
    results = [event.call for event in events if isinstance(event, ToolAnswered)]
    assert len(results) == len(set(results)) == 5
