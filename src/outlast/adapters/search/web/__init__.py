"""The parts of reading the web: which addresses may be reached, what comes back, and how much of it.

May import: `ports`, `domain`, `httpx2`, `protego`.
To add one: a check or a format of answers is a module of its own here; `web_fetch` puts them in order.
"""
