"""The SQL files: each is used, each compiles, and none that runs often walks a whole table."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import outlast.adapters.stores.sqlite as room
from outlast.adapters.stores.sqlite.queries import append_events, query
from outlast.adapters.stores.sqlite.schema import migrate, migrations

FOLDER = Path(room.__file__).parent
NAMES = sorted(file.stem for file in (FOLDER / "sql").glob("*.sql"))
# One reads a page of what it walks, one a row a queue; the others are asked for everything there is.
LISTS = {"list_runs", "read_queue_marks", "list_run_ids", "stray_streams", "stray_payloads"}


@pytest.mark.parametrize("name", NAMES)
def test_every_query_is_used_once_by_name(name: str) -> None:
    uses = [file.name for file in FOLDER.glob("*.py") if f'query("{name}")' in file.read_text("utf-8")]
    assert len(uses) >= 1


@pytest.mark.parametrize("name", NAMES)
def test_every_query_finds_its_rows_by_an_index(name: str) -> None:
    sql = (
        append_events(3)
        if name == "append_events_if_at"
        else query(name).replace("{conditions}", "user_id = :user_id")
    )
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, migrations())
        numbered = set(re.findall(r"\?\d+", sql))
        parameters = [None] * len(numbered) if numbered else dict.fromkeys(re.findall(r":(\w+)", sql))
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
    tables = {
        table
        for table in re.findall(r"CREATE TABLE (\w+)", "".join(migrations().values()))
        if name not in LISTS
    }
    assert not [step for step in plan if step.startswith("SCAN") and step.split()[1] in tables]
