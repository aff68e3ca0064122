"""The Lua scripts of this store, each with the common head, called by their digest."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from outlast.domain.dataclass import dataclass

_FOLDER = Path(__file__).parent / "lua"

Word = bytes | str | int
Command = tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A script: its text, and the digest under which a server that has seen it knows it."""

    text: str
    digest: str

    def call(self, root: bytes, *arguments: Word) -> Command:
        """The command that runs it on the store whose keys begin with `root`."""
        return ("EVALSHA", self.digest, 1, root, *arguments)


def _script(*parts: str) -> Script:
    text = "\n".join((_FOLDER / f"{part}.lua").read_text("utf-8") for part in ("keys", *parts))
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


OPEN: Final = _script("open")
COMMIT: Final = _script("shares", "claiming", "commit_items", "commit_writes", "commit_tasks", "commit")
SETTLE: Final = _script("settle")
CLAIM: Final = _script("shares", "claiming", "claim")
RENEW: Final = _script("shares", "renew")
EXPIRE: Final = _script("shares", "expire")
FIND_RUN: Final = _script("find_run")
LIST_LEASES: Final = _script("list_leases")
LIST_ROWS: Final = _script("listing", "list_rows")
COUNT_ROWS: Final = _script("listing", "count_rows")
LIST_THREADS: Final = _script("list_threads")

BY_DIGEST: Final = {
    script.digest: script
    for script in (
        OPEN,
        COMMIT,
        SETTLE,
        CLAIM,
        RENEW,
        EXPIRE,
        FIND_RUN,
        LIST_LEASES,
        LIST_ROWS,
        COUNT_ROWS,
        LIST_THREADS,
    )
}


def in_full(command: Command) -> Command:
    """The same call for a server that does not know the script: with its text, which it keeps."""
    return ("EVAL", BY_DIGEST[str(command[1])].text, *command[2:])
