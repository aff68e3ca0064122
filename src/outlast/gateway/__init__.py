"""The HTTP door: the API, its event streams and the built page.

May import: `api`, `wiring`, `service`, `ports`, `domain`; never the machinery.
To add one: a short file in `routes` over one verb of `service`.
"""
