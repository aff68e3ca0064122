"""The HTTP routes, one file a family of verbs.

May import: `api`, `wiring`, `service`, `ports`, `domain`; never the machinery.
To add one: one short function over one verb of `service`, with its response model.
"""
