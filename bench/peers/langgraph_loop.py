"""LangGraph: a graph of a model node and a tool node, with a checkpoint in SQLite made durable at every step."""

import asyncio
import os
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from bench.work import Rounds, Stopwatch, arguments, emit, of_many, of_rounds

os.environ["LANGSMITH_TRACING"] = "false"

QUESTION = {"messages": [HumanMessage(content="go", id="u0")]}


def graph(rounds: int, tool: Rounds, checkpointer: Any) -> Any:
    """The compiled graph."""

    def model(state: MessagesState) -> dict[str, Any]:
        index = (len(state["messages"]) - 1) // 2
        if index >= rounds:
            return {"messages": [AIMessage(content="done", id=f"a{index}")]}
        call = {"name": "noop", "args": {"index": index}, "id": f"c{index}"}
        return {"messages": [AIMessage(content="", id=f"a{index}", tool_calls=[call])]}

    def tools(state: MessagesState) -> dict[str, Any]:
        calls = state["messages"][-1].tool_calls
        results = [(call["id"], tool.answer(call["args"]["index"])) for call in calls]
        return {
            "messages": [
                ToolMessage(content=text, tool_call_id=call, id=f"t{call}") for call, text in results
            ]
        }

    built = StateGraph(MessagesState)
    built.add_node("model", model)
    built.add_node("tools", tools)
    built.add_edge(START, "model")
    built.add_conditional_edges(
        "model", lambda state: "tools" if state["messages"][-1].tool_calls else END, ["tools", END]
    )
    built.add_edge("tools", "model")
    return built.compile(checkpointer=checkpointer)


def config(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread}, "recursion_limit": 10_000_000}


def one_run(path: Path, rounds: int) -> dict[str, Any]:
    """One run, durable at every step."""
    tool = Rounds()
    with SqliteSaver.from_conn_string(str(path)) as saver:
        loop = graph(rounds, tool, saver)
        watch = Stopwatch()
        loop.invoke(QUESTION, config("t"), durability="sync")
        found = of_rounds(watch, rounds, tool)
    assert len(tool.times_seconds) == rounds
    return found


async def many_runs(path: Path, rounds: int, runs: int) -> dict[str, Any]:
    """Many runs at once in one event loop."""
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        loop = graph(rounds, Rounds(), saver)
        watch = Stopwatch()
        await asyncio.gather(
            *[loop.ainvoke(QUESTION, config(f"t{number}"), durability="sync") for number in range(runs)]
        )
        return of_many(watch, rounds * runs)


def main() -> None:
    asked = arguments(__doc__, ("rounds", "many"), rounds=50, runs=1)
    path = asked.directory / "langgraph.db"
    many = asked.mode == "many"
    found = asyncio.run(many_runs(path, asked.rounds, asked.runs)) if many else one_run(path, asked.rounds)
    emit({**found, "file_bytes": path.stat().st_size})


if __name__ == "__main__":
    main()
