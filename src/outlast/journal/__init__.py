"""Events as history: encoding, upcasting, folding, snapshots, appending.

This room knows how events are written and read, never what should happen next.

May import: `ports`, `domain`.
To add one: a new version of an event gets an upcaster in `upcast.py` and a golden journal that is kept for
ever.
"""
