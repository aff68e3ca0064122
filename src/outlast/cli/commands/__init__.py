"""The commands, one file a verb.

May import: `api`, `service`, `domain`; never the machinery.
To add one: one short function over one verb of `service`, with `--json` and exit codes as in the reference.
"""
