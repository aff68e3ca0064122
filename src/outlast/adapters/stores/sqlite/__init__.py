"""The SQLite store: one file, many processes of one machine, one writer thread each.

`store.py` is the port's face, `writer.py` commits what is pending in groups, `reader.py` reads beside it. What shares the
connection lives here: journal, rows, queues, memory, corpus.

May import: `ports`, `domain`, `sqlite3`.
To add one: a numbered migration, a `.sql` file a query, and the store contract.
"""

from outlast.adapters.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
