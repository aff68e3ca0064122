"""Which channel of the server a commit is told on.

Signals share a channel and queues share a channel, with the name in the text, for there are few of them and every worker wants
to hear. Each stream has a channel of its own: the server then keeps its many events from those who do not watch it.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Final

from outlast.adapters.stores.watches import QUEUE_TOPIC, SIGNAL_TOPIC

_LONGEST_NAME_BYTES: Final = 512
"""The server takes texts of up to 8,000 bytes; a longer name is told by its digest."""


class Channels:
    """Channels of one schema. `teller` marks what a store tells, so that it does not listen to itself."""

    def __init__(self, schema: str, teller: str) -> None:
        self._prefix = f"outlast_{_digest(schema, 8)}_"
        self.teller = teller

    def place(self, topic: str) -> tuple[str, str]:
        """The channel of a topic, and what stands for the topic in the text."""
        if topic.startswith(SIGNAL_TOPIC):
            return self._prefix + "signals", _short(topic)
        if topic.startswith(QUEUE_TOPIC):
            return self._prefix + "queues", _short(topic)
        return self.of_stream(topic), ""

    def of_stream(self, stream: str) -> str:
        """The channel of a stream."""
        return self._prefix + _digest(stream, 40)

    def notice(self, topic: str) -> tuple[str, str]:
        """The channel of a topic, and the text to send there."""
        channel, name = self.place(topic)
        return channel, f"{self.teller} {name}"


def _short(topic: str) -> str:
    return topic if len(topic.encode()) <= _LONGEST_NAME_BYTES else _digest(topic, 64)


@lru_cache(maxsize=1024)  # a stream that grows is told of again and again
def _digest(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
