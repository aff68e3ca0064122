"""outlast at the same work: the whole engine over a configuration, as a user has it; `alone` without a store.

Arguments are validated against the tool's schema, limits and loop detection are on, everything is journaled. `rounds` is one
run; `many` is many runs under one worker; `resume` goes on with the run that a killed `rounds` left behind.
"""

import asyncio
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.work import PAYLOAD_BYTES, Rounds, Stopwatch, arguments, emit, imported_now, of_many, of_rounds
from outlast.adapters.providers.tokens import estimate_request_tokens
from outlast.cli.garbage import collect_rarely
from outlast.domain.message import Message, Usage
from outlast.domain.tool_call import ToolCall
from outlast.ports.batch import Committed, Item, Refused
from outlast.ports.provider import ModelAnswer, ModelRequest, Observer, ToolSchema
from outlast.ports.run_rows import RunFilter
from outlast.ports.store import StoreCounts
from outlast.tools import BaseTool, ToolResult
from outlast.wiring.engine import Engine, Request
from outlast.wiring.loops import new_loop

SERVER_VARIABLE = "OUTLAST_BENCH_URL"
CONFIG = """\
harness:
  persistence: {persistence}
  context: {{max_tokens: 1000000000, compression_threshold: 1000000000}}
"""
TASK = """\
task:
  name: rounds
  description: Ask for the tool again and again
  workflow: chat
  tools: [noop]
  max_steps: {steps}
  max_tokens_total: 1000000000000
  max_wall_time: 100000
  timeout_minutes: 10000
"""
TEXT_BYTES = """
SELECT sum(length(CAST(text AS BLOB))) FROM (
    SELECT kind || body AS text FROM events
    UNION ALL SELECT body FROM snapshots
    UNION ALL SELECT content FROM payloads
)
"""


class Model:
    """Asks for the tool a number of times, in no time."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        index = (len(request.messages) - 2) // 2
        usage = Usage(10, 10)
        if index >= self._rounds:
            return ModelAnswer("done", usage=usage)
        return ModelAnswer("", (ToolCall("x", "noop", {"index": index}),), usage=usage, finish="tool_calls")

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        return estimate_request_tokens(messages, tools)

    async def close(self) -> None:
        return


def noop_tool(rounds: Rounds) -> type[BaseTool]:
    """The tool that answers from `rounds`."""

    class Noop(BaseTool):
        name = "noop"
        description = "Return the text of a round"
        input_schema = {  # noqa: RUF012 - a tool is written as users write one
            "type": "object",
            "properties": {"index": {"type": "integer", "minimum": 0}},
            "required": ["index"],
        }
        effect = "idempotent"

        async def execute(self, index: int) -> ToolResult:
            return ToolResult(success=True, data=rounds.answer(index))

    return Noop


def engine_in(directory: Path, rounds: int, tool: Rounds, task: str = "") -> Engine:
    """The engine of a configuration in `directory`, with lines of its own added to the task. Not yet open."""
    config, tasks = directory / "outlast.yaml", directory / "tasks"
    tasks.mkdir(parents=True, exist_ok=True)
    config.write_text(CONFIG.format(persistence=persistence_at(os.environ.get(SERVER_VARIABLE, ""))))
    (tasks / "rounds.yaml").write_text(TASK.format(steps=rounds + 10) + task)
    return Engine.from_config(config, tools=[noop_tool(tool)], provider=Model(rounds))


def persistence_at(url: str) -> str:
    """The lines of a configuration that name a server, or a file where there is none."""
    if not url:
        return "{backend: sqlite, path: bench.db}"
    backend = "postgres" if url.startswith("postgresql:") else "redis"
    return f"{{backend: {backend}, url: '${{{SERVER_VARIABLE}}}'}}"


async def begin(engine: Engine, *, here: bool = False) -> str:
    """Start a run; returns its id."""
    begun = await engine.begin(Request(task="rounds", input="go", is_claimed_here=here))
    return begun.run_id


async def warm_up(engine: Engine) -> None:
    """A short run elsewhere, so that imports are not measured; then collect garbage as the command line does."""
    await engine.open()
    await engine.work_on(await begin(engine, here=True))
    await engine.close()
    collect_rarely()


async def one_run(directory: Path, rounds: int, kill_at: int | None) -> dict[str, Any]:
    """One run in this process."""
    tool = Rounds(kill_at)
    engine = engine_in(directory, rounds, tool)
    await engine.open()
    run_id = await begin(engine, here=True)
    before = counts(engine)
    watch = Stopwatch()
    reason = await engine.work_on(run_id)
    found = of_rounds(watch, rounds, tool)
    done = counts(engine)
    await engine.close()
    assert (reason, len(tool.times_seconds)) == ("ended", rounds)
    return {**found, **per_round(before, done, rounds), **stored(directory, rounds)}


async def alone(directory: Path, rounds: int) -> dict[str, Any]:
    """One run whose commits are answered at once and written nowhere: what a round takes the engine alone.

    Of all rounds the slowest of the fastest twentieth counts, which other programs at work leave alone.
    """
    tool = Rounds()
    engine = engine_in(directory, rounds, tool)
    await engine.open()
    run_id = await begin(engine, here=True)
    engine.store.commit = answered_at_once  # type: ignore[method-assign]
    await engine.work_on(run_id)
    await engine.close()
    return {"fastest_ms": sorted(tool.rounds_ms())[rounds // 20]}


async def answered_at_once(batch: Sequence[Item]) -> Committed | Refused:
    """A commit that is none. No turn of the loop goes by, as where a run is alone and its disk is quick."""
    return Committed()


async def many_runs(directory: Path, rounds: int, runs: int) -> dict[str, Any]:
    """Many runs at once under one worker."""
    tool = Rounds()
    engine = engine_in(directory, rounds, tool)
    await engine.open()
    await asyncio.gather(*[begin(engine) for _ in range(runs)])
    before = counts(engine)
    watch = Stopwatch()
    await engine.shift(runs).serve(until_idle=True)
    found = of_many(watch, rounds * runs)
    done = counts(engine)
    await engine.close()
    assert len(tool.times_seconds) == rounds * runs
    return {**found, **per_round(before, done, rounds * runs)}


async def resumed_run(directory: Path, rounds: int) -> dict[str, Any]:
    """Go on with the run that is there; `next_step_at` is when its next tool call began."""
    imported = imported_now()
    collect_rarely()  # as the command line does
    tool = Rounds()
    engine = engine_in(directory, rounds, tool)
    await engine.open()
    offset_seconds = time.monotonic() - time.perf_counter()
    rows = await engine.store.list_runs(RunFilter())
    reason = await engine.work_on(rows[0].run_id)
    await engine.close()
    assert reason == "ended"
    return {
        **imported,
        "next_step_at": tool.times_seconds[0] + offset_seconds,
        "next_step_cpu_seconds": tool.first_cpu_seconds,
        "calls": len(tool.times_seconds),
    }


def counts(engine: Engine) -> StoreCounts:
    """What the store has done so far."""
    found: StoreCounts = engine.store.counts()  # type: ignore[attr-defined]
    return found


def per_round(before: StoreCounts, after: StoreCounts, rounds: int) -> dict[str, float]:
    """Statements, commits and syncs a round."""
    return {
        "statements": (after.statements - before.statements) / rounds,
        "commits": (after.commits - before.commits) / rounds,
        "syncs": (after.durable_syncs - before.durable_syncs) / rounds,
    }


def stored(directory: Path, rounds: int) -> dict[str, float]:
    """The text that was stored a round beyond the payload, and the size of the closed file in payloads; of a server nothing."""
    path = directory / "bench.db"
    if not path.exists():
        return {}
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        text_bytes = connection.execute(TEXT_BYTES).fetchone()[0]
    payload_bytes = rounds * PAYLOAD_BYTES
    return {
        "extra_bytes": (text_bytes - payload_bytes) / rounds,
        "file_in_payloads": path.stat().st_size / payload_bytes,
    }


async def main() -> None:
    asked = arguments(__doc__, ("rounds", "alone", "many", "resume"), rounds=50, runs=1, kill=None)
    directory = asked.directory
    os.environ[SERVER_VARIABLE] = asked.url
    if asked.mode == "resume":
        emit(await resumed_run(directory, asked.rounds))
        return
    await warm_up(engine_in(directory / "warm", 3, Rounds()))
    if asked.mode == "rounds":
        emit(await one_run(directory, asked.rounds, asked.kill))
    elif asked.mode == "alone":
        emit(await alone(directory, asked.rounds))
    else:
        emit(await many_runs(directory, asked.rounds, asked.runs))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=new_loop) as runner:  # as the command line does
        runner.run(main())
