"""The Model Context Protocol: servers whose tools and tasks outlast uses.

A remote task's id stays in the driver's own data and never travels further.

May import: `ports`, `domain`, the `mcp` package inside functions.
To add one: a dialect of background tasks is one driver file; the driver contract proves it.
"""
