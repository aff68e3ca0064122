"""The command line: every verb, live progress, `--json`, exit codes that mean something.

`main` answers `outlast --help` alone; `dispatch` and the one command that was named are imported only when they are needed, so that
a command costs what it uses.

May import: `api`, `wiring`, `service`, `ports`, `domain`; never the machinery.
To add one: one file in `commands`; it is found by its name, and its first line is its help.
"""
