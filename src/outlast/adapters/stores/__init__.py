"""Stores: where journals, rows and payloads are kept.

A store holds opaque text and rows; meaning lives above. SQL lives in `.sql` files named after their guard. What every store
needs lies here: `watches.py` (who wants to hear of commits), `lane.py` (a thread that serves any event loop), `times.py`.

May import: `ports`, `domain`, the store's own driver.
To add one: a folder named after the backend and one line in the store contract.
"""
