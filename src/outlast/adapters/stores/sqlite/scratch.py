"""Empty databases for the store contract, and their removal."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from outlast.adapters.stores.sqlite.store import SqliteStore


@contextmanager
def scratch_stores(path: Path) -> Iterator[Callable[[], Callable[[], SqliteStore]]]:
    """Makes empty databases beside the one at `path`, so on its disk; a call gives what makes handles on one.

    The database itself is not touched. All are deleted at the end.
    """
    numbers = itertools.count(1)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".outlast-scratch-", dir=path.parent) as folder:

        def new_storage() -> Callable[[], SqliteStore]:
            file = Path(folder) / f"{next(numbers)}.db"
            return lambda: SqliteStore(file)

        yield new_storage
