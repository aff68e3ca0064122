"""The only room that knows everything: settings in, a working harness out.

May import: Every room below the doors.
To add one: a setting is one field with a unit, a default and a docstring; its part is built in `build.py`.
"""
