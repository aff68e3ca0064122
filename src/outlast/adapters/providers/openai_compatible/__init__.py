"""`provider: openai_compatible`: any endpoint that speaks chat completions, over httpx2 and a thin client of
our own.

`client.py` makes the call and minds the time. Everything else is pure: `request.py` and `dialect.py` say what
is sent, `stream.py` turns bytes into events, `chunks.py`, `calls.py` and `surrogates.py` turn events into an
answer, `refusal.py` and `retry_after.py` say what went wrong.

May import: `ports`, `domain`, `httpx2` (only in `client.py`), and what all providers share (`arguments`,
`tokens`). To add one: a habit of some server is a rule in the one module that reads or writes it, and a
recorded stream in its test.
"""

from outlast.adapters.providers.openai_compatible.client import OpenAICompatible

__all__ = ["OpenAICompatible"]
