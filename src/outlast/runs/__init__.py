"""The run machine: what to do next, doing it, and the loop that joins the two.

`decide` is pure, `perform` touches the world through ports, `loop` is fold, decide, perform, commit.

May import: `journal`, `ports`, `domain`.
To add one: a command is one small function in `perform.py`; a limit is one check in `limits.py`.
"""
