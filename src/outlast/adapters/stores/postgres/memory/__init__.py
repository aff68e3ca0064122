"""Long-term memory in PostgreSQL: `writing.py` in transactions, `reading.py` and `searching.py` beside them.

May import: `ports`, `domain`, the store it belongs to, `stores/remembering`.
To add one: a `.sql` file a query, named after what it does, and a test of the memory contract.
"""
