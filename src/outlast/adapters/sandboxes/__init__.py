"""Sandboxes: where code that nobody has read is run.

May import: `ports`, `domain`, the standard library.
To add one: one file named as in `sandbox.backend`; the sandbox contract tries to break out of it.
"""
