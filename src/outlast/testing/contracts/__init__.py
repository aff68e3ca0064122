"""One contract a port: the promises every adapter is held to, ours and yours.

May import: `ports`, `domain`.
To add one: one file named after the port, with a class of tests that takes the adapter as a fixture.
"""
