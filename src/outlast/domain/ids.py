"""How things are named: identifiers that mean the same on every machine and after every crash.

Only runs and threads are named by chance, once, when a person starts them. Everything inside a run is named after the position
of the event that caused it, so that the same step has the same name however often it is decided.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

LOCAL_USER: Final = "local"
"""The owner of everything on a machine without accounts."""

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,79}")


def run_id_from(random_bytes: bytes) -> str:
    """A run's id made of at least ten random bytes: `r-` and 16 characters that are easy to read aloud and to type."""
    return "r-" + _base32(random_bytes)


def thread_id_from(random_bytes: bytes) -> str:
    """A thread's id made of at least ten random bytes: `t-` and 16 characters."""
    return "t-" + _base32(random_bytes)


def call_id_at(position: int, index: int) -> str:
    """The id of the `index`-th call asked for by the event at `position` of a run."""
    return f"c{position}-{index}"


def idempotency_key(run_id: str, call_id: str) -> str:
    """The key a call carries to the outside; the same after every crash, different in every run and fork."""
    return f"{run_id}.{call_id}"


def source_key(url: str) -> str:
    """The key of a source in a run's ledger; a function of its address alone, so that it does not depend on who came first."""
    return "s-" + hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def is_safe_id(text: str) -> bool:
    """Is `text` fit to be an id: 1 to 80 letters, digits and `_ . : -`, beginning with a letter or digit?"""
    return _ID.fullmatch(text) is not None


def _base32(random_bytes: bytes) -> str:
    number = int.from_bytes(random_bytes[:10], "big")
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(75, -1, -5))
