"""MCP servers that behave badly, each as a real program or a real address."""
