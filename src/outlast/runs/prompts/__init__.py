"""What models are told. A prompt is pinned to a run when a branch is opened, so that it may be changed under waiting runs.

May import: `domain`.
To add one: a constant or a small function in the file of its workflow.
"""
