"""What PostgreSQL and its driver say, in outlast's words."""

import asyncpg
import pytest
from asyncpg import exceptions as pg

from outlast.adapters.stores.postgres.troubles import in_our_words, is_contended, is_lost, may_pass
from outlast.domain.errors import Broken, CallerMistake, OutlastError

LOST: list[Exception] = [
    pg.ConnectionDoesNotExistError("gone"),
    pg.AdminShutdownError("terminating connection"),
    pg.CannotConnectNowError("the database system is starting up"),
    pg.ReadOnlySQLTransactionError("cannot execute INSERT in a read-only transaction"),
    asyncpg.InterfaceError("connection is closed"),
    ConnectionResetError("reset"),
    TimeoutError(),
]
BROKEN: list[tuple[Exception, str]] = [
    *((error, "store_unavailable") for error in LOST),
    (pg.DiskFullError("could not extend file"), "store_full"),
    (pg.DataCorruptedError("invalid page"), "store_damaged"),
    (pg.UndefinedTableError("relation does not exist"), "store_damaged"),
    (pg.InvalidPasswordError("password authentication failed"), "store_refused"),
    (pg.InvalidCatalogNameError("database does not exist"), "store_refused"),
    (pg.InsufficientPrivilegeError("permission denied"), "store_refused"),
    (pg.TooManyConnectionsError("too many clients"), "store_unavailable"),
    (pg.QueryCanceledError("statement timeout"), "store_unavailable"),
    (asyncpg.ClientConfigurationError("bad connection parameter"), "store_refused"),
]


@pytest.mark.parametrize(("error", "code"), BROKEN)
def test_every_trouble_has_a_code_and_a_next_step(error: Exception, code: str) -> None:
    told = in_our_words(error, "db.example/runs")
    assert isinstance(told, Broken)
    assert told.code == code
    assert "db.example/runs" in told.detail
    assert told.next_step.endswith(".")


@pytest.mark.parametrize("error", LOST)
def test_a_lost_connection_may_come_back(error: Exception) -> None:
    assert is_lost(error)
    assert may_pass(error)


@pytest.mark.parametrize("error", [pg.SerializationError("x"), pg.DeadlockDetectedError("x")])
def test_contention_passes_and_leaves_no_doubt(error: Exception) -> None:
    assert is_contended(error)
    assert may_pass(error)
    assert not is_lost(error)


@pytest.mark.parametrize("error", [error for error, _ in BROKEN[len(LOST) :] if "clients" not in str(error)])
def test_what_will_not_pass_is_not_waited_for(error: Exception) -> None:
    assert not may_pass(error)


@pytest.mark.parametrize(
    "error", [pg.CharacterNotInRepertoireError("0x00"), pg.ProgramLimitExceededError("index row size")]
)
def test_a_value_that_cannot_be_stored_is_the_callers_mistake(error: Exception) -> None:
    told = in_our_words(error, "here")
    assert isinstance(told, CallerMistake)
    assert told.code == "not_storable"


def test_an_error_of_our_own_or_of_a_bug_stays_what_it_is() -> None:
    ours, bug = OutlastError("code", "detail"), KeyError("bug")
    assert in_our_words(ours, "here") is ours
    assert in_our_words(bug, "here") is bug
