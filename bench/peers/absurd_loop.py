"""Absurd: one task whose model and tool calls are steps, kept by stored procedures in PostgreSQL, from the schema that
OUTLAST_BENCH_ABSURD_SQL names.

Everything goes through the sync client, which takes less of the CPU than the async one. One run is a batch of one, so that no poll is
waited for; many have one worker with a thread for each, and all share the one connection that a client makes. How long a lease
and a poll take is left as it comes.
"""

import os
import threading
from pathlib import Path
from typing import Any

import psycopg
from absurd_sdk import Absurd

from bench.peers.databases import fresh_database
from bench.work import Rounds, Stopwatch, arguments, emit, of_many, of_rounds

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


def loop(params: object, context: Any) -> int:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    while True:
        messages.append(context.step("model", lambda: said(messages)))
        if "tool_calls" not in messages[-1]:
            return len(messages)
        for call in messages[-1]["tool_calls"]:
            text = context.step("tool", lambda index=call["arguments"]["index"]: TOOL.answer(index))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})


class LastOut:
    """The loop, and the word to the worker that no other is left."""

    def __init__(self, app: Absurd, runs: int) -> None:
        self._app, self._left, self._lock = app, runs, threading.Lock()

    def __call__(self, params: object, context: Any) -> int:
        try:
            return loop(params, context)
        finally:
            with self._lock:
                self._left -= 1
                if not self._left:
                    self._app.stop_worker()


def measured(app: Absurd) -> dict[str, Any]:
    """What the rounds took. Starting the runs is not counted."""
    app.create_queue()
    app.register_task("loop")(LastOut(app, ASKED.runs))
    tasks = [app.spawn("loop", {})["task_id"] for _ in range(ASKED.runs)]
    watch = Stopwatch()
    if ASKED.mode == "rounds":
        app.work_batch()
        found = of_rounds(watch, ASKED.rounds, TOOL)
    else:
        app.start_worker(concurrency=ASKED.runs)
        found = of_many(watch, ASKED.rounds * ASKED.runs)
    results = [app.fetch_task_result(task) for task in tasks]
    assert {(one.state, one.result) for one in results if one} == {("completed", 2 * ASKED.rounds + 2)}
    assert len(TOOL.times_seconds) == ASKED.rounds * ASKED.runs
    return found


def main() -> None:
    with fresh_database(ASKED.url) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(Path(os.environ["OUTLAST_BENCH_ABSURD_SQL"]).read_bytes())
        app = Absurd(url)
        found = measured(app)
        app.close()
    emit(found)


if __name__ == "__main__":
    main()
