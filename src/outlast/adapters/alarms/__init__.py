"""Ways to tell operators of troubles.

May import: `ports`, `domain`.
To add one: one file with a `send`, its case in `wiring.alerts`.
"""
