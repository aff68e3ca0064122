"""The public test kit: contracts for every port, faults to inject, a clock to turn by hand.

May import: `api`, `ports`, `domain`.
To add one: a helper that users need to prove their own adapters; ours are proven with the same one.
"""
