"""Recall: what a run asks memory for, what of it may be seen by whom, and how it is shown to a model.

First comes what the run itself has found and this conversation may see, then what is remembered from before.

May import: `runs`, `journal`, `ports`, `domain`.
To add one: a tier is a file beside `short_term.py`, with its place in `perform.py`.
"""
