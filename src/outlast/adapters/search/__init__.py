"""Search: a question in, addresses and excerpts out.

May import: `ports`, `domain`, `httpx2`.
To add one: one file named as in `search.provider`; the search contract runs it on recorded answers.
"""
