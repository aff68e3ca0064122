"""The SQLite store: one file, many processes of one machine, one writer thread each.

What shares the connection lives here: journal, rows, memory, corpus.

May import: `ports`, `domain`, `sqlite3`.
To add one: a numbered migration, a `.sql` file a query, and the store contract.
"""
