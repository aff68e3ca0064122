"""Every seam of outlast, one Protocol a file.

A port says what is promised and never how; the promises are tested by `outlast.testing.contracts`.

May import: `domain` only.
To add one: a Protocol in a file of its own, a contract in `outlast.testing.contracts`, and a first adapter
that passes it.
"""
