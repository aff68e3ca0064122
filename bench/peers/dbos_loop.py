"""DBOS: one workflow whose model and tool calls are steps, recorded in SQLite, or in PostgreSQL at `--url`.

Its settings are left as they come: 20 connections to PostgreSQL, LISTEN/NOTIFY. Workflows are started without a queue, whose polls
would be waited for. Many go through whichever API is quicker: on PostgreSQL the sync one by a fifth, on SQLite the async one by half.
"""

import asyncio
from contextlib import nullcontext
from typing import Any

from dbos import DBOS, SetWorkflowID

from bench.peers.databases import fresh_database
from bench.work import Rounds, Stopwatch, arguments, emit, file_size, of_many, of_rounds

ASKED = arguments(__doc__, ("rounds", "many"), rounds=50, runs=1)
TOOL = Rounds()


def said(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The next thing the model says."""
    index = (len(messages) - 1) // 2
    if index >= ASKED.rounds:
        return {"role": "assistant", "content": "done"}
    return {
        "role": "assistant",
        "tool_calls": [{"name": "noop", "arguments": {"index": index}, "id": f"c{index}"}],
    }


@DBOS.step()
def model(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return said(messages)


@DBOS.step()
def tool(index: int) -> str:
    return TOOL.answer(index)


@DBOS.step()
async def model_async(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return said(messages)


@DBOS.step()
async def tool_async(index: int) -> str:
    return TOOL.answer(index)


@DBOS.workflow()
def loop() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    while True:
        messages.append(model(messages))
        if "tool_calls" not in messages[-1]:
            return
        for call in messages[-1]["tool_calls"]:
            text = tool(call["arguments"]["index"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})


@DBOS.workflow()
async def loop_async() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    while True:
        messages.append(await model_async(messages))
        if "tool_calls" not in messages[-1]:
            return
        for call in messages[-1]["tool_calls"]:
            text = await tool_async(call["arguments"]["index"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})


def one_run() -> dict[str, Any]:
    """One run through the sync API."""
    watch = Stopwatch()
    with SetWorkflowID("w"):
        loop()
    return of_rounds(watch, ASKED.rounds, TOOL)


def many_runs() -> dict[str, Any]:
    """Many runs at once, each in a thread of its executor."""
    watch = Stopwatch()
    handles = [DBOS.start_workflow(loop) for _ in range(ASKED.runs)]
    for handle in handles:
        handle.get_result()
    return of_many(watch, ASKED.rounds * ASKED.runs)


async def many_runs_async() -> dict[str, Any]:
    """Many runs at once in one event loop."""
    watch = Stopwatch()
    handles = [await DBOS.start_workflow_async(loop_async) for _ in range(ASKED.runs)]
    await asyncio.gather(*[handle.get_result() for handle in handles])
    return of_many(watch, ASKED.rounds * ASKED.runs)


def measured() -> dict[str, Any]:
    """What was asked for."""
    if ASKED.mode == "rounds":
        return one_run()
    return many_runs() if ASKED.url else asyncio.run(many_runs_async())


def main() -> None:
    path = ASKED.directory / "dbos.db"
    with fresh_database(ASKED.url) if ASKED.url else nullcontext(f"sqlite:///{path}") as url:
        DBOS(
            config={
                "name": "bench",
                "system_database_url": url,
                "application_version": "1",
                "console_log_level": "ERROR",
                "log_level": "ERROR",
            }
        )
        DBOS.launch()
        found = measured()
        assert len(TOOL.times_seconds) == ASKED.rounds * ASKED.runs
        DBOS.destroy()
    emit({**found, **file_size(path)})


if __name__ == "__main__":
    main()
