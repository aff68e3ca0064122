"""What the outside may ask for, one verb a function.

A verb checks who asks, then makes one commit or one reading. Where runs and tasks meet in one commit, it is
here.

May import: `runs`, `tasks`, `journal`, `ports`, `domain`.
To add one: a function here, a short route in `gateway.routes`, a short command in `cli.commands`, one test
through both doors.
"""
