"""The SQL files: each is used, none names a table outside the schema, and no clock but the server's is read."""

import re
from pathlib import Path

import pytest

import outlast.adapters.stores.postgres as room
from outlast.adapters.stores.postgres.queries import migrations

FOLDER = Path(room.__file__).parent
SCRIPTS = sorted(FOLDER.glob("sql/*.sql")) + sorted(FOLDER.glob("migrations/*/*.sql"))
MODULES = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", [file.stem for file in FOLDER.glob("sql/*.sql")])
def test_every_query_is_used_by_name(name: str) -> None:
    assert [file.name for file in MODULES if f'query("{name}")' in file.read_text("utf-8")]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.stem)
def test_every_table_is_named_with_its_schema(script: Path) -> None:
    """The search path belongs to a session, and behind a pooler a session belongs to nobody."""
    tables = re.findall(r"CREATE TABLE \{schema\}\.(\w+)", "".join(migrations().values()))
    assert len(tables) == 13
    text = "\n".join(line for line in script.read_text("utf-8").splitlines() if not line.startswith("--"))
    assert not re.findall(rf"(?:FROM|JOIN|INTO|UPDATE|TABLE) (?:{'|'.join(tables)})\b", text)


def test_migrations_are_numbered_without_gaps() -> None:
    assert list(migrations()) == list(range(1, len(migrations()) + 1))


@pytest.mark.parametrize("module", MODULES, ids=lambda file: file.stem)
def test_leases_do_not_go_by_the_clock_of_a_worker(module: Path) -> None:
    """So that skewed clocks change nothing: the time of every lease is the server's."""
    assert not re.findall(
        r"datetime\.now|utcnow|time\.time\b|now\(\)", module.read_text("utf-8").replace("async def now(", "")
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.stem)
def test_the_time_is_that_of_the_moment_and_not_of_the_transaction(script: Path) -> None:
    assert not re.findall(
        r"\bnow\(\)|current_timestamp|localtimestamp", script.read_text("utf-8"), re.IGNORECASE
    )
