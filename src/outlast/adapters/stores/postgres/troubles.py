"""What PostgreSQL and its driver say, in outlast's words: may it pass, whose fault is it, what to do next."""

from __future__ import annotations

import asyncpg
from asyncpg import exceptions as pg

from outlast.domain.errors import Broken, CallerMistake, OutlastError

_LOST = (
    pg.PostgresConnectionError,
    pg.AdminShutdownError,
    pg.CrashShutdownError,
    pg.CannotConnectNowError,
    pg.IdleSessionTimeoutError,
    pg.ReadOnlySQLTransactionError,
    asyncpg.InternalClientError,
    TimeoutError,
    OSError,
)
_CROWDED = (pg.TooManyConnectionsError,)
_CONTENDED = (pg.SerializationError, pg.DeadlockDetectedError, pg.LockNotAvailableError)
_MISSING_STATEMENT = (pg.InvalidSQLStatementNameError, pg.DuplicatePreparedStatementError)
_NOT_STORABLE = (pg.DataError, pg.ProgramLimitExceededError, UnicodeEncodeError, OverflowError)
_NOT_LET_IN = (pg.InvalidAuthorizationSpecificationError, pg.InvalidCatalogNameError)
_DAMAGED = (
    pg.DataCorruptedError,
    pg.IndexCorruptedError,
    pg.UndefinedTableError,
    pg.UndefinedFunctionError,
    pg.InvalidSchemaNameError,
)


def is_lost(error: BaseException) -> bool:
    """Was the connection lost, so that nobody knows what became of what was asked?"""
    if isinstance(
        error, asyncpg.InterfaceError
    ):  # the driver's own word for a connection that has just closed
        return "connection" in str(error) and not isinstance(error, asyncpg.ClientConfigurationError)
    return isinstance(error, _LOST)


def is_of_a_pooler(error: BaseException) -> bool:
    """Did a prepared statement get lost on the way, as behind a pooler that hands connections round? Nothing was done then."""
    return isinstance(error, _MISSING_STATEMENT)


def is_contended(error: BaseException) -> bool:
    """Did the server undo everything because others were at the same rows, so that it may be done again at once?"""
    return isinstance(error, _CONTENDED)


def may_pass(error: BaseException) -> bool:
    """Is it worth trying again in a moment?"""
    return is_lost(error) or is_contended(error) or is_of_a_pooler(error) or isinstance(error, _CROWDED)


def in_our_words(error: BaseException, where: str) -> BaseException:
    """The error to raise for one that came out of PostgreSQL or its driver; any other is returned as it is."""
    if isinstance(error, OutlastError):
        return error
    if isinstance(error, _NOT_STORABLE):
        return CallerMistake(
            "not_storable",
            f"A value cannot be stored: {_first_line(error)}.",
            "Leave out NUL and characters that are no valid text, keep numbers within 64 bits and names within 2,000 bytes.",
        )
    if may_pass(error) or isinstance(error, asyncpg.PostgresError | asyncpg.InterfaceError):
        return _broken(error, where)
    return error


def unknown(where: str) -> Broken:
    """The answer to a commit of which nobody can tell whether it holds."""
    return Broken(
        "commit_unknown",
        f"The connection to the store {where} was lost during a commit, and the journal does not tell whether it holds.",
        "Read the journal again to see whether the commit is there.",
    )


def closed() -> Broken:
    """The answer of a store that is not open."""
    return Broken("store_unavailable", "The store is not open.", "Use it between open() and close().")


def _broken(error: BaseException, where: str) -> Broken:
    said = _first_line(error)
    if isinstance(error, pg.DiskFullError):
        return Broken(
            "store_full",
            f"There is no room left for the store {where} ({said}).",
            "Free disk space on the server; nothing was lost and no restart is needed.",
        )
    if isinstance(error, _DAMAGED):
        return Broken(
            "store_damaged",
            f"The store {where} is damaged, or its schema was taken away ({said}).",
            "Look at the server's log; restore from a backup, or name another schema in harness.persistence.url.",
        )
    if isinstance(error, asyncpg.ClientConfigurationError):
        return Broken(
            "store_refused",
            f"The store {where} cannot be used as it is addressed ({said}).",
            "Correct harness.persistence.url.",
        )
    if isinstance(error, _NOT_LET_IN):
        return Broken(
            "store_refused",
            f"The store {where} does not let this user in ({said}).",
            "Check user, password and database in harness.persistence.url.",
        )
    if isinstance(error, pg.InsufficientPrivilegeError):
        return Broken(
            "store_refused",
            f"The user may not do this in the store {where} ({said}).",
            "Have an administrator run: CREATE SCHEMA outlast AUTHORIZATION your_user.",
        )
    if isinstance(error, _CROWDED):
        return Broken(
            "store_unavailable",
            f"The store {where} takes no more connections ({said}).",
            "Raise max_connections, lower connections= in harness.persistence.url, or put a pooler between.",
        )
    return Broken(
        "store_unavailable",
        f"The store {where} does not answer ({said}).",
        "Check that the server runs and can be reached; nothing that was committed is lost.",
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0].rstrip(".")[:200] if lines else type(error).__name__
