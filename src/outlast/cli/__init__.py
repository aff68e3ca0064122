"""The command line: every verb, live progress, `--json`, exit codes that mean something.

May import: `api`, `service`, `domain`; never the machinery.
To add one: one file in `commands`; `main.py` finds it.
"""
