"""Artifacts: where outputs too large for a context are kept.

May import: `ports`, `domain`.
To add one: one file that implements the port; the artifact contract proves it.
"""
