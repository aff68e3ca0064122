"""What SQLite says, in outlast's words."""

import sqlite3
from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite.troubles import in_our_words
from outlast.domain.errors import Broken, CallerMistake, OutlastError
from tests.unit.adapters.stores.sqlite.making import sqlite_error

CODES = [
    (sqlite3.SQLITE_FULL, "store_full"),
    (sqlite3.SQLITE_CORRUPT, "store_damaged"),
    (sqlite3.SQLITE_CORRUPT_INDEX, "store_damaged"),
    (sqlite3.SQLITE_NOTADB, "store_damaged"),
    (sqlite3.SQLITE_BUSY, "store_unavailable"),
    (sqlite3.SQLITE_BUSY_RECOVERY, "store_unavailable"),
    (sqlite3.SQLITE_READONLY, "store_unavailable"),
    (sqlite3.SQLITE_READONLY_DIRECTORY, "store_unavailable"),
    (sqlite3.SQLITE_CANTOPEN, "store_unavailable"),
    (sqlite3.SQLITE_IOERR_READ, "store_unavailable"),
    (sqlite3.SQLITE_NOMEM, "store_unavailable"),
]


@pytest.mark.parametrize(("number", "code"), CODES)
def test_every_trouble_has_a_code_and_a_next_step(number: int, code: str, tmp_path: Path) -> None:
    told = in_our_words(sqlite_error(number), tmp_path / "outlast.db")
    assert isinstance(told, Broken)
    assert told.code == code
    assert str(tmp_path) in told.detail
    assert told.next_step.endswith(".")


def test_a_disk_that_fails_at_the_commit_leaves_the_outcome_open(tmp_path: Path) -> None:
    told = in_our_words(sqlite_error(sqlite3.SQLITE_IOERR_FSYNC), tmp_path / "x.db", at_commit=True)
    assert isinstance(told, Broken)
    assert told.code == "commit_unknown"


@pytest.mark.parametrize(
    "error",
    [
        UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"),
        OverflowError("too large"),
        sqlite3.DataError("big"),
    ],
)
def test_a_value_that_cannot_be_stored_is_the_callers_mistake(error: Exception) -> None:
    told = in_our_words(error, None)
    assert isinstance(told, CallerMistake)
    assert told.code == "not_storable"


def test_an_error_of_our_own_or_of_a_bug_stays_what_it_is() -> None:
    ours, bug = OutlastError("code", "detail"), KeyError("bug")
    assert in_our_words(ours, None) is ours
    assert in_our_words(bug, None) is bug


def test_text_that_is_no_text_any_more_is_damage(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "x.db")
    with pytest.raises(sqlite3.OperationalError) as error:
        database.execute("SELECT CAST(x'ff' AS TEXT)").fetchone()
    database.close()
    told = in_our_words(error.value, tmp_path / "x.db")
    assert isinstance(told, Broken)
    assert told.code == "store_damaged"
