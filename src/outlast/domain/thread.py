"""Threads: conversations that outlast runs. What was said in one is a stream of its own, in order."""

from __future__ import annotations

from typing import ClassVar, Literal

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ThreadSaid:
    """Somebody said something in a thread: the user who asked, or the assistant whose run `run_id` answered.

    A `note` tells what became of background tasks without a model, from text of the other side; `tasks` is the list of them as a
    run was shown it.
    """

    VERSION: ClassVar[int] = 1

    run_id: str
    speaker: Literal["user", "assistant", "note", "tasks"]
    text: str
