"""What Redis says, in outlast's words: whose fault it is and what to do next."""

from __future__ import annotations

from redis.exceptions import AuthenticationError, AuthorizationError, NoPermissionError, ResponseError

from outlast.domain.errors import Broken

_PASSING = ("BUSY ", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "TRYAGAIN")
"""Nothing was done, and a little later it may be: a server that loads, is busy, or has just lost its part as the primary."""


class Lost(Exception):
    """The connection ended, or the server could not serve just now."""


def code_of(error: Exception) -> str:
    """The error with the code it begins with; redis-py takes that off the errors it knows."""
    code = getattr(error, "status_code", None)
    return f"{code} {error}" if code else str(error)


def is_passing(error: ResponseError) -> bool:
    """May the same command be served a little later? Scripts wrap the code of the command that failed in theirs."""
    said = code_of(error)
    return any(said.startswith(code) or f"-{code}" in said for code in _PASSING)


def is_forbidden(error: Exception) -> bool:
    """Has the server refused who we are, so that trying again is of no use?"""
    return isinstance(error, AuthenticationError | AuthorizationError | NoPermissionError)


def refused(error: Exception, name: str) -> Broken:
    """The error to raise for a command that the server has refused for good."""
    said = code_of(error)
    if "OOM " in said or "MISCONF" in said or "No space left" in said:
        return Broken(
            "store_full",
            f"The Redis server {name} has no room left ({said}).",
            "Give it more memory or disk, or raise maxmemory; nothing was lost and no restart is needed.",
        )
    if "WRONGTYPE" in said:
        return Broken(
            "store_damaged",
            f"The Redis server {name} holds keys of another program under the names of this store ({said}).",
            "Use a database of its own, and restore this one from a backup.",
        )
    if "MOVED" in said or "CROSSSLOT" in said:
        return not_usable(
            said,
            name,
            "The store lives on one node of a cluster: put that node into harness.persistence.url.",
        )
    if is_forbidden(error) or "NOPERM" in said or "NOAUTH" in said:
        return not_usable(
            said,
            name,
            "Put a user and password that may use every command and key into harness.persistence.url.",
        )
    if "DB index is out of range" in said:
        return not_usable(
            said, name, "Name a database that it has in harness.persistence.url: redis://HOST:PORT/DB."
        )
    return unavailable(said, name)


def unavailable(why: object, name: str) -> Broken:
    """The error to raise when the server does not serve."""
    return Broken(
        "store_unavailable",
        f"The Redis server {name} does not serve ({why}).",
        "Check that it runs and that harness.persistence.url names it; what was waiting is tried again later.",
    )


def not_usable(why: object, name: str, next_step: str) -> Broken:
    """The error to raise for a server that is there and must be set up otherwise before it can be used."""
    return Broken("store_refused", f"The Redis server {name} cannot be used ({why}).", next_step)


def unknown(trouble: Broken) -> Broken:
    """The error of a commit that was sent and of which nothing more was heard."""
    return Broken(
        "commit_unknown",
        f"The connection was lost while a commit was made. {trouble.detail}",
        "When the server is back, read the journal again to see whether the commit is there.",
    )
