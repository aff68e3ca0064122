"""The ways tasks of MCP servers are looked after, one file a dialect. Drivers keep no state: a handle is all they need.

May import: `ports`, `domain`, the rest of `adapters.mcp`.
To add one: a file with a driver and how its tasks are begun, its name in `kinds.py`; the driver contract proves it.
"""
