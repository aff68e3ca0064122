"""The reference pages of docs/reference that are made from the code: `python -m outlast.wiring.pages DIRECTORY` writes them.

May import: every room below the doors.
To add one: one file with a `page()` that returns Markdown, and its name in `written.py`.
"""
