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
    """The statement that appends `count` events; the n-th takes `:kind_n`, `:version_n`, `:at_n` and `:body_n`, from 1."""
    rows = ", ".join(f"({n}, :kind_{n}, :version_{n}, :at_{n}, :body_{n})" for n in range(1, count + 1))
    return _APPEND.replace("{rows}", rows)


_APPEND = query("append_events_if_at")
