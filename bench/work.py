"""The work everybody does: a model that answers in no time asks for a tool that returns 1 KiB, and the history grows.

Only the standard library is used here, because peers are run by an interpreter of their own.
"""

import argparse
import base64
import hashlib
import json
import os
import resource
import signal
import statistics
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

PAYLOAD_BYTES = 1024
WARM_UP_ROUNDS = 20
STRETCH_ROUNDS = 50


def tool_result(index: int) -> str:
    """1,024 characters, different for each index, that no compression makes shorter."""
    noise = hashlib.shake_128(index.to_bytes(8, "little")).digest(762)
    return f"{index:08d}" + base64.b64encode(noise).decode()


class Rounds:
    """Answers the tool calls of one or many runs; keeps the time of each, and the CPU this process had used at the first.

    With `kill_at` the process dies inside that call, before its result can be stored.
    """

    def __init__(self, kill_at: int | None = None) -> None:
        self.times_seconds: list[float] = []
        self.first_cpu_seconds = 0.0
        self._kill_at = kill_at

    def answer(self, index: int) -> str:
        """What the tool returns in round `index`."""
        if not self.times_seconds:
            self.first_cpu_seconds = time.process_time()
        self.times_seconds.append(time.perf_counter())
        if index == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return tool_result(index)

    def rounds_ms(self) -> list[float]:
        """How long each round took, in milliseconds."""
        return [(later - earlier) * 1000 for earlier, later in pairwise(self.times_seconds)]

    def stretches(self) -> dict[str, float]:
        """The median round of the first 50 after a warm-up and of the last 50, in milliseconds."""
        rounds = self.rounds_ms()
        if len(rounds) < WARM_UP_ROUNDS + 2 * STRETCH_ROUNDS:
            return {}
        first = rounds[WARM_UP_ROUNDS : WARM_UP_ROUNDS + STRETCH_ROUNDS]
        return {
            "first_ms": statistics.median(first),
            "last_ms": statistics.median(rounds[-STRETCH_ROUNDS:]),
        }


class Stopwatch:
    """Wall and CPU seconds of this process since it was made, children left out."""

    def __init__(self) -> None:
        self._cpu_seconds = time.process_time()
        self._wall_seconds = time.perf_counter()

    def read(self) -> tuple[float, float]:
        """Wall and CPU seconds so far."""
        return time.perf_counter() - self._wall_seconds, time.process_time() - self._cpu_seconds


def of_rounds(watch: Stopwatch, rounds: int, times: Rounds) -> dict[str, Any]:
    """What a probe of one run tells of its rounds."""
    wall_seconds, cpu_seconds = watch.read()
    return {
        "mean_ms": wall_seconds * 1000 / rounds,
        "cpu_ms": cpu_seconds * 1000 / rounds,
        **times.stretches(),
    }


def of_many(watch: Stopwatch, rounds: int) -> dict[str, Any]:
    """What a probe of many runs at once tells."""
    wall_seconds, cpu_seconds = watch.read()
    return {"rounds_per_second": rounds / wall_seconds, "cpu_ms": cpu_seconds * 1000 / rounds}


def file_size(path: Path) -> dict[str, int]:
    """The size of a file, where there is one, which a store on a server has not."""
    return {"file_bytes": path.stat().st_size} if path.exists() else {}


def imported_now() -> dict[str, float]:
    """How long this process has lived when its imports are done, by the clock of all processes, and the CPU it took."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"imported_at": time.monotonic(), "import_cpu_seconds": used.ru_utime + used.ru_stime}


def arguments(description: str | None, modes: Sequence[str], **numbers: int | None) -> argparse.Namespace:
    """What a probe was asked: a mode, a directory, and whole numbers with their defaults."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("mode", choices=modes)
    parser.add_argument("--directory", type=Path, required=True, help="an empty one, on the disk to measure")
    parser.add_argument("--url", default="", help="the address of a server; without one SQLite is measured")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()


def emit(values: dict[str, Any]) -> None:
    """Print what a probe found, as its only line."""
    print(json.dumps(values), flush=True)
