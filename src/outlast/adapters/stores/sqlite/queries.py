"""The SQL of this store, one file a query, named after its guard."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "sql"


def query(name: str, folder: Path = _FOLDER) -> str:
    """The text of `NAME.sql` in a folder, without the comment at its head."""
    lines = (folder / f"{name}.sql").read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


@cache
def append_events(count: int) -> str:
    """The statement that appends `count` events. Its values: stream, position before, queue and generation, then kind, version, time
    and body of each event. They go by their places, which is quicker than by names."""
    rows = ", ".join(
        f"({n + 1}, ?{4 * n + 5}, ?{4 * n + 6}, ?{4 * n + 7}, ?{4 * n + 8})" for n in range(count)
    )
    return _APPEND.replace("{rows}", rows)


_APPEND = query("append_events_if_at")
