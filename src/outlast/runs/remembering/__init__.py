"""Remembering: what a run leaves in long-term memory, taken from its journal by whichever worker is free.

A run asks for it in the commit of what is worth it, by an entry in the queue `memory`. Whoever claims the entry reads the journal,
finds pages, conclusions and what people stated, and puts them where memory is kept. Everything is named after the event it came
from, so that a worker which dies at any point leaves nothing but work to be done again.

May import: `runs`, `journal`, `ports`, `domain`.
To add one: a kind of finding is a dataclass and a case in `extraction.py`, and how it is kept in `indexing.py`.
"""
