"""The commands, one file a verb, or a family of verbs about one thing.

The first line of a file says what the command does, in the list of `outlast --help` too; `app` is the command. `run_code` and other
names that Python reserves need no care: a command is called as its file is.

May import: `api`, `wiring`, `service`, `domain`; never the machinery.
To add one: one short function over one verb of `service`, with `--json` and exit codes as in the reference.
"""
