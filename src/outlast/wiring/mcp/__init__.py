"""MCP servers as a configuration has them: what they are, and which of their tools a run gets under which names.

May import: `adapters` (by name where it needs the `mcp` package), `ports`, `domain`, the rest of `wiring` but `build` and `engine`.
To add one: nothing here; a server is an entry of `mcp_servers`.
"""
