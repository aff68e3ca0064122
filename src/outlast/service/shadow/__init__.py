"""What shadow mode came to: the comparisons in the journals of runs, and a report over many of them.

May import: `runs`, `journal`, `ports`, `domain`.
To add one: a figure is a field of `report`'s groups, and of the shape in the gateway.
"""
