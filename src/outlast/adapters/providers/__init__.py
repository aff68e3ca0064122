"""Model providers: typed messages, tools and a purpose in; text or tool calls out.

May import: `ports`, `domain`, `httpx2` and parsers. Vendor SDKs only inside functions.
To add one: one file named as in `llm.provider`; the provider contract runs it on recorded streams.
"""
