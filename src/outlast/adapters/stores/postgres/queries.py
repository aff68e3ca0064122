"""The SQL of this store, one file a query, named after its guard."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


def query(name: str, folder: Path = _FOLDER / "sql") -> str:
    """The text of `NAME.sql` in a folder, without the comment at its head, for `in_schema`."""
    lines = (folder / f"{name}.sql").read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


@cache
def in_schema(text: str, schema: str) -> str:
    """A query of ours over the tables of one schema. Nothing is left to the search path, which a pooler would not keep."""
    return text.replace("{schema}", schema)


@cache
def migrations() -> dict[int, str]:
    """The SQL of every migration, by number: `tables.sql` first, then the functions."""
    return {
        int(folder.name[:4]): "".join(
            file.read_text("utf-8")
            for file in sorted(folder.glob("*.sql"), key=lambda file: (file.stem != "tables", file.stem))
        )
        for folder in sorted((_FOLDER / "migrations").glob("[0-9]*"))
    }
