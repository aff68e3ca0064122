"""Threads."""

from __future__ import annotations

from typing import Literal

from outlast.gateway.shapes.shape import Shape


class ListedThread(Shape):
    """A conversation."""

    thread_id: str
    title: str
    created_at: str


class ThreadMessage(Shape):
    """Something that was said, and in which run."""

    run_id: str
    speaker: Literal["user", "assistant"]
    text: str


class ThreadDocument(ListedThread):
    """A conversation, what was said in it, and its runs that have not ended, the active one first."""

    unfinished: list[str]
    messages: list[ThreadMessage]


class ThreadList(Shape):
    """Threads, newest first."""

    threads: list[ListedThread]
