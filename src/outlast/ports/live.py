"""The seam to whoever watches: pieces of answers while they are made. Nothing here is durable, and nobody has to watch."""

from __future__ import annotations

from typing import Protocol

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """A piece of an answer: the run, the conversation, and the text or reasoning that came."""

    run_id: str
    branch: str
    role: str
    text: str = ""
    reasoning: str = ""


class Live(Protocol):
    """Takes frames and hands them to whoever watches the run."""

    def publish(self, frame: Frame) -> None:
        """Hand a frame on; must not block and must not raise."""
        ...
