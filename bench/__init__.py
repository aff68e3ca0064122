"""What durability costs: the same work done bare, by outlast and by its peers, on this machine and in the same minutes.

`python -m bench` prints a table of ratios. A probe is a module that does one measurement in a process of its own and prints
one JSON line; a part runs probes and makes rows of the table of them.
"""
