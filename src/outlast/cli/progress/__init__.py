"""Live progress of a run on stderr: a board that changes in place on a terminal, plain lines anywhere else.

Both are fed with the trace lines of the run as they come, and with nothing else.

May import: `cli`, `domain`.
To add one: a class with the methods of `display.Display`.
"""
