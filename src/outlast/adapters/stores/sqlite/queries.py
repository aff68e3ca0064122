"""The SQL of this store, one file a query, named after its guard."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "sql"


def query(name: str) -> str:
    """The text of `sql/NAME.sql`, without the comment at its head."""
    lines = (_FOLDER / f"{name}.sql").read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


@cache
def append_events(count: int) -> str:
    """The statement that appends `count` events. Its parameters from the fifth on are kind, version, time, body of each."""
    rows = ", ".join(
        f"({i + 1}, ?{i * 4 + 5}, ?{i * 4 + 6}, ?{i * 4 + 7}, ?{i * 4 + 8})" for i in range(count)
    )
    return _APPEND.replace("{rows}", rows)


_APPEND = query("append_events_if_at")
