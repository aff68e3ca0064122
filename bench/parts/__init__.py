"""One subject a module: `measure` runs its probes and yields rows of the table.

To add one: a module with `measure`, and its line in `PARTS` of `bench/__main__.py`.
"""
