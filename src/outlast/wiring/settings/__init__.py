"""The configuration: found, read, checked, and pinned to a run.

May import: domain; third parties only inside functions.
To add one: a setting is one field in `tree.py` or `parts.py`, a key of a task one field in `task_tree.py`; then `just docs`.
"""
