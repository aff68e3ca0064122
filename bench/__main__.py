"""`python -m bench [PART ...]`: run the parts, print the table, write bench/results/latest.json."""

import argparse
import json
import os
import platform
import sqlite3
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from bench.child import RESULTS, ProbeFailed
from bench.parts import (
    beside,
    concurrent,
    context,
    costs,
    gateway,
    memory,
    page,
    queues,
    research,
    resume,
    rounds,
    scale,
    servers,
    start,
    tasks,
)
from bench.table import Row

PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "rounds": rounds.measure,
    "concurrent": concurrent.measure,
    "waiting": concurrent.measure_waiting,
    "servers": servers.measure,
    "queues": queues.measure,
    "tasks": tasks.measure,
    "resume": resume.measure,
    "start": start.measure,
    "gateway": gateway.measure,
    "page": page.measure,
    "research": research.measure,
    "context": context.measure,
}
LONG: dict[str, Callable[[], Iterator[Row]]] = {
    "long": rounds.measure_long,
    "costs": costs.measure,
    "scale": scale.measure,
    "memory": memory.measure,
}
PEERS: dict[str, Callable[[], Iterator[Row]]] = {"peers": beside.measure, "long-peers": beside.measure_long}


def machine() -> dict[str, str | int | None]:
    """What the figures were measured on."""
    models = [
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    ]
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": models[0].partition(": ")[2] if models else platform.machine(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": python(),
        "sqlite": sqlite3.sqlite_version,
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def python() -> str:
    """Its version and how it was built: with profile-guided optimisation the same program takes about a tenth less of the CPU."""
    is_asked_for = "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
    # Debian's is profiled by its packaging, which then wipes the flag out of what the build tells.
    is_wiped = sysconfig.get_config_var("PGO_PROF_USE_FLAG") == ""
    how = "with" if is_asked_for or is_wiped else "without"
    return f"{platform.python_version()} built {how} profile-guided optimisation"


def main() -> int:
    """Run what was asked. Returns 1 when a bound was missed."""
    chosen = asked_parts()
    about = machine()
    print(", ".join(f"{key} {value}" for key, value in about.items()))
    if os.getloadavg()[0] > 0.5:
        print(
            "Other programs are at work on this machine: times are disturbed, counts and most ratios are not."
        )
    results: dict[str, list[Row]] = {}
    for name in chosen:
        print(f"\n{name}", flush=True)
        results[name] = list(told(name))
    RESULTS.mkdir(exist_ok=True)
    rows = {name: [asdict(row) for row in found] for name, found in results.items()}
    (RESULTS / "latest.json").write_text(json.dumps({"machine": about, "parts": rows}, indent=1) + "\n")
    return int(any(row.is_met is False for found in results.values() for row in found))


def told(name: str) -> Iterator[Row]:
    """The rows of a part, printed as they come. A probe that fails is a row that missed, and ends the part."""
    try:
        for row in {**PARTS, **LONG, **PEERS}[name]():
            print(row.as_text(), flush=True)
            yield row
    except ProbeFailed as failed:
        print(f"  {failed}", flush=True)
        yield Row(f"{name}: probes that failed", 1, "", at_most=0)


def asked_parts() -> list[str]:
    """The parts named on the command line, or all but the long ones."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    known = [*PARTS, *LONG, *PEERS]
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of: {', '.join(known)}; without any: all but the long ones"
    )
    chosen: list[str] = parser.parse_args().parts
    unknown = set(chosen) - set(known)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    trouble, has_peers = beside.trouble(), beside.PYTHON_VARIABLE in os.environ
    if trouble and (has_peers or set(chosen) & set(PEERS)):
        parser.error(trouble)
    return chosen or [*PARTS, *(["peers"] if has_peers else [])]


if __name__ == "__main__":
    sys.exit(main())
