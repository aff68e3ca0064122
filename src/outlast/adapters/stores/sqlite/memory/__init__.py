"""Long-term memory in SQLite: `writing.py` in the writer's transactions, `reading.py` and `searching.py` beside it.

May import: `ports`, `domain`, the store it belongs to, `stores/remembering`.
To add one: a `.sql` file a query, named after what it does, and a test of the memory contract.
"""
