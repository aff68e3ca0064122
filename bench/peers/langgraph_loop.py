"""LangGraph: a graph of a model node and a tool node, durable at every step, in SQLite or, at `--url`, in PostgreSQL.

Many runs are a batch through the sync API, which does up to four times the rounds of the async one on SQLite, and up to three
times on PostgreSQL. They share one connection: a checkpointer does one thing at a time, and a pool would only add to it.
"""

import os
from contextlib import ExitStack
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from bench.peers.databases import fresh_database
from bench.work import Rounds, Stopwatch, arguments, emit, file_size, of_many, of_rounds

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


def one_run(saver: Any, rounds: int) -> dict[str, Any]:
    """One run, durable at every step."""
    tool = Rounds()
    loop = graph(rounds, tool, saver)
    watch = Stopwatch()
    ended = loop.invoke(QUESTION, config("t"), durability="sync")
    found = of_rounds(watch, rounds, tool)
    assert (len(tool.times_seconds), len(ended["messages"])) == (rounds, 2 * rounds + 2)
    return found


def many_runs(saver: Any, rounds: int, runs: int) -> dict[str, Any]:
    """Many runs at once, each in a thread of a batch."""
    tool = Rounds()
    loop = graph(rounds, tool, saver)
    configs = [config(f"t{number}") | {"max_concurrency": runs} for number in range(runs)]
    watch = Stopwatch()
    ended = loop.batch([QUESTION] * runs, configs, durability="sync")
    found = of_many(watch, rounds * runs)
    assert len(tool.times_seconds) == rounds * runs
    assert {len(state["messages"]) for state in ended} == {2 * rounds + 2}
    return found


def main() -> None:
    asked = arguments(__doc__, ("rounds", "many"), rounds=50, runs=1)
    path = asked.directory / "langgraph.db"
    many = asked.mode == "many"
    with ExitStack() as open_places:
        if asked.url:
            url = open_places.enter_context(fresh_database(asked.url))
            saver = open_places.enter_context(PostgresSaver.from_conn_string(url))
            saver.setup()
        else:
            saver = open_places.enter_context(SqliteSaver.from_conn_string(str(path)))
        found = many_runs(saver, asked.rounds, asked.runs) if many else one_run(saver, asked.rounds)
    emit({**found, **file_size(path)})


if __name__ == "__main__":
    main()
