"""The whole offline research over a folder of documents: its CPU, that of its children, and which rooms used it."""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

from bench.library import QUESTION, write_library
from bench.sampling import Sampler
from bench.work import arguments, emit
from outlast.service import show
from outlast.wiring.engine import Engine, Request

CONFIG = "llm: {provider: offline}\nsearch: {provider: corpus, path: ./docs}\n"
TASK = """\
task:
  name: brief
  description: Answer a question from the documents at hand
  workflow: research
  tools: [web_search, web_fetch, summarize, write_report]
"""

ENGINE = ("runs/", "journal/", "domain/", "ports/", "tasks/", "service/", "adapters/stores/")
"""The rooms that make a run durable; the rest searches, reads and answers."""


async def research(directory: Path) -> dict[str, Any]:
    """Run it from an empty directory; returns the `show` document."""
    (directory / "outlast.yaml").write_text(CONFIG)
    (directory / "tasks").mkdir()
    (directory / "tasks" / "brief.yaml").write_text(TASK)
    engine = Engine.from_config(directory / "outlast.yaml")
    await engine.open()
    begun = await engine.begin(Request(task="brief", input=QUESTION, is_claimed_here=True))
    await engine.work_on(begun.run_id)
    document = await show.show_run(engine.store, begun.run_id, "local")
    await engine.close()
    return document


def main() -> None:
    asked = arguments(__doc__, ("plain", "sampled"), documents=100)
    write_library(asked.directory / "docs", asked.documents)
    sampler = Sampler()
    before, started = os.times(), time.perf_counter()
    if asked.mode == "sampled":
        sampler.start()
    document = asyncio.run(research(asked.directory))
    sampler.stop()
    after = os.times()
    assert document["state"] == "COMPLETED", json.dumps(document)[:2000]
    own = after.user + after.system - before.user - before.system
    children = after.children_user + after.children_system - before.children_user - before.children_system
    sampled = sum(sampler.seconds.values())
    emit(
        {
            "own_seconds": own,
            "children_seconds": children,
            "wall_seconds": time.perf_counter() - started,
            "engine_share": sampler.of_room(*ENGINE) / (sampled + children) if sampled else None,
            "rooms": sampler.by_room(),
            "steps": document["steps"],
            "sources": len(document["report"]["sources"]),
        }
    )


if __name__ == "__main__":
    main()
