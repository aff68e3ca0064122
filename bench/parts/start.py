"""Starting: the CPU of importing outlast and of its help, beside that of Python itself."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.child import ROOT, ProbeFailed, environment
from bench.table import Row

TURNS = 7


def measure() -> Iterator[Row]:
    """CPU seconds of fresh processes, children included."""
    python = cpu_ms(sys.executable, "-c", "pass")
    yield Row("python -c pass: CPU", python, "ms")
    yield Row(
        "import outlast: CPU beyond Python's", cpu_ms(sys.executable, "-c", "import outlast") - python, "ms"
    )
    harness = cpu_ms(sys.executable, "-c", "from outlast import Harness")
    yield Row("from outlast import Harness: CPU", harness, "ms", at_most=350)
    command = Path(sys.executable).with_name("outlast")
    yield Row("outlast --help: CPU", cpu_ms(str(command), "--help"), "ms", at_most=350)


def cpu_ms(*command: str) -> float:
    """The median CPU milliseconds of a command, the first time left out. Raises ProbeFailed."""
    times = [_once(command) for _ in range(TURNS + 1)]
    return median(times[1:])


def _once(command: tuple[str, ...]) -> float:
    started = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, env=environment()
    )
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode != 0:
        raise ProbeFailed(f"{' '.join(command)} ended with {started.returncode}")
    return (used.ru_utime + used.ru_stime) * 1000
