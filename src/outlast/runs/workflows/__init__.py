"""Workflows: each a pure `decide` that says what a run does next.

May import: `journal`, `ports`, `domain` and the rest of `runs`.
To add one: one file with a `decide(state, now) -> Sequence[Command]`, named by a task's `workflow:`.
"""
