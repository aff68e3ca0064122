"""Embedders: text in, vectors out, each vector knowing who made it.

May import: `ports`, `domain`; models only inside functions.
To add one: one file named as in `memory.embedder`; the embedder contract proves it.
"""
