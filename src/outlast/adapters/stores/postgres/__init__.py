"""The PostgreSQL store: one server, any number of processes on any number of machines.

`store.py` is the port's face. A `site` is where connections live, for they are bound to an event loop: at home in the loop that
opened the store, and in a thread for callers of other loops. `committer.py` writes what is pending in groups, one statement a
group; `recovery.py` finds out what became of a commit whose answer was lost; `listener.py` hears other processes.

May import: `ports`, `domain`, asyncpg.
To add one: a numbered migration, a `.sql` file a query, and the store contract.
"""

from outlast.adapters.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
