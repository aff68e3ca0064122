"""From a commit in one process to the act of another: one commits what makes an entry due, the other hears of it and claims it.

`act` is the process that hears; `rouse` starts one and tells how long after each commit it had its claim.
"""

import asyncio
import json
import random
import sys
import time
from pathlib import Path
from statistics import quantiles
from typing import Any

from bench.child import ROOT
from bench.probes.stores import opened
from bench.work import arguments, emit
from outlast.ports.queue import Enqueue, Release, Shares

QUEUE, LEASE_SECONDS = "bench_wakeups", 30.0


async def act(url: str, directory: Path, times: int) -> None:
    """Claim what becomes due, and say of each when it was claimed, by the clock of all processes."""
    store = await opened(url, directory)
    watch = store.watch([f"queue:{QUEUE}"])
    await watch.wait(1.0)
    print("ready", flush=True)
    left = times
    while left:
        claims = await store.claim(QUEUE, "w", LEASE_SECONDS, shares=Shares())
        acted_at = time.monotonic()
        for claim in claims:
            await store.commit([Release(QUEUE, claim.item, claim.generation, None)])
            print(json.dumps([claim.item, acted_at]), flush=True)
            left -= 1
        if not claims:
            await watch.wait(5.0)
    watch.stop()
    await store.close()


async def rouse(url: str, directory: Path, times: int) -> dict[str, Any]:
    """Commit now and then, while nothing else is under way."""
    store = await opened(url, directory)
    words = ("act", "--url", url, "--directory", str(directory), "--times", str(times))
    actor = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.probes.wakeups", *words, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert actor.stdout is not None
    assert await actor.stdout.readline() == b"ready\n"
    chance, waits = random.Random(1), []
    for number in range(times):
        await asyncio.sleep(chance.uniform(0.02, 0.06))
        await store.commit([Enqueue(QUEUE, f"w{number}", await store.now(), "ann")])
        committed_at = time.monotonic()
        item, acted_at = json.loads(await actor.stdout.readline())
        assert item == f"w{number}"
        waits.append((acted_at - committed_at) * 1000)
    await actor.wait()
    await store.close()
    twentieths = quantiles(waits, n=20)
    return {"p50_ms": twentieths[9], "p95_ms": twentieths[18]}


async def main() -> None:
    asked = arguments(__doc__, ("rouse", "act"), times=100)
    if asked.mode == "act":
        await act(asked.url, asked.directory, asked.times)
    else:
        emit(await rouse(asked.url, asked.directory, asked.times))


if __name__ == "__main__":
    asyncio.run(main())
