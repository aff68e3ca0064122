"""The background-task machine: polling, leases, notifications, cancels.

`decide` is pure: given a row and what just happened, it answers with the new row.

May import: `journal`, `ports`, `domain`.
To add one: a queue is one claim, one act and one commit over the skeleton that all four queues share.
"""
