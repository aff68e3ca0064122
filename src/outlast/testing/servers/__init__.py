"""Real servers for tests, started from wheels on a bare machine and ended by the process id they were started with.

May import: the standard library, `domain`.
To add one: a file named after the server, with a class that starts, stops and restarts it.
"""
