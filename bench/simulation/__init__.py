"""A thousand workers and a million waiting runs in one process: a deterministic simulation with a virtual clock and a seed.

`clockwork` owns time, `entries` is the queue of a store by the rules of `ports/store.py`, `server` is that store as something
one can wait in line for, `worker` claims, renews, crashes and freezes, `world` puts them together and watches what must hold.
The leases are those of `runs/desk.py`, and so are the rules by which a worker rests.
"""
