"""The SQL of memory: each file is used, and recall looks entries up by their numbers."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import outlast.adapters.stores.postgres.memory as on_postgres
import outlast.adapters.stores.sqlite.memory as on_sqlite
from outlast.adapters.stores.sqlite.memory.rows import memory_query
from outlast.adapters.stores.sqlite.schema import migrate, migrations

FOLDERS = [Path(room.__file__).parent for room in (on_sqlite, on_postgres)]
FILES = [file for folder in FOLDERS for file in (folder / "sql").glob("*.sql")]
PARTS = ("columns", "visible", "chosen")


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parts[-4]}-{file.stem}")
def test_every_query_is_used_by_name(file: Path) -> None:
    code = "".join(module.read_text("utf-8") for module in file.parent.parent.glob("*.py"))
    is_part = file.stem.removeprefix("memory_") in PARTS
    is_deletion = file.stem.startswith("delete_memory") and "delete_memory{what}" in code
    assert is_part or is_deletion or f'memory_query("{file.stem}")' in code


@pytest.mark.parametrize(
    "name", ["visible_vectors", "memory_by_words", "memory_terms", "read_memory", "sketches_since"]
)
def test_recall_walks_over_no_table(name: str) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, migrations())
        sql = memory_query(name)
        names = {word.strip("(),") for word in sql.replace(":", " :").split() if word.startswith(":")}
        plan = [
            row[3]
            for row in connection.execute(
                f"EXPLAIN QUERY PLAN {sql}", {word[1:].rstrip(")"): None for word in names}
            )
        ]
    assert not [step for step in plan if step.startswith("SCAN memory") and "VIRTUAL" not in step]
    assert not [step for step in plan if "memory_by_age" in step or "memory_that_holds" in step]
