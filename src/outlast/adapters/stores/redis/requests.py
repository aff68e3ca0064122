"""What is asked of the server: commands, and what their replies mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from outlast.adapters.stores.lane import Job
from outlast.adapters.stores.redis.decoding import commit_answer
from outlast.adapters.stores.redis.scripts import COMMIT, Command
from outlast.adapters.stores.redis.troubles import Lost, refused
from outlast.adapters.stores.redis.wire import UNANSWERED, Wire
from outlast.domain.dataclass import dataclass
from outlast.ports.batch import Committed, Refused


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which batch this is: the `slot` of a `round` of a `writer`, whom the server remembers for some seconds more (0: as before)."""

    writer: str
    round: int
    slot: int
    remembered_seconds: int


@dataclass(frozen=True, slots=True)
class Request:
    """Commands that may be sent again when nobody knows what became of them."""

    commands: Sequence[Command]

    def stamped(self, stamp: Stamp) -> Sequence[Command]:
        """The commands, to which a stamp adds nothing."""
        return self.commands

    def __call__(self, replies: list[Any]) -> list[Any]:
        """The replies as they came."""
        return replies


@dataclass(frozen=True, slots=True)
class Commit:
    """A batch; it is written at most once, however often its connection is lost. `queues` are those that its claims go to."""

    root: bytes
    arguments: Sequence[bytes]
    topics: frozenset[str]
    queues: Sequence[str] = ()

    def stamped(self, stamp: Stamp) -> Sequence[Command]:
        """The one command that writes it under its stamp."""
        wakeup = json.dumps([stamp.writer, *sorted(self.topics)]) if self.topics else ""
        where = (stamp.writer, stamp.round, stamp.slot, stamp.remembered_seconds)
        return (COMMIT.call(self.root, *where, wakeup, *self.arguments),)

    def __call__(self, replies: Sequence[Any]) -> Committed | Refused:
        """What became of it."""
        return commit_answer(replies[0], self.queues)


def asked(job: Job) -> Request | Commit:
    """What a job asks for."""
    assert isinstance(job.work, Request | Commit)
    return job.work


def exchange(
    wire: Wire, jobs: Sequence[Job], commands: Sequence[Sequence[Command]]
) -> tuple[list[Job], Lost | None]:
    """Send the commands of every job in one go and settle those answered; the others, and how the connection was lost."""
    replies: list[Any] = []
    lost = None
    try:
        wire.ask([command for some in commands for command in some], replies)
    except Lost as error:
        lost = error
    unanswered, start = [], 0
    for job, some in zip(jobs, commands, strict=True):
        own = replies[start : start + len(some)]
        start += len(some)
        if UNANSWERED in own:
            unanswered.append(job)
        else:
            _settle(job, own, wire.name)
    return unanswered, lost


def _settle(job: Job, replies: Sequence[Any], name: str) -> None:
    trouble = next((reply for reply in replies if isinstance(reply, Exception)), None)
    if trouble is not None:
        job.error = refused(trouble, name)
        return
    try:
        job.result = job.work(replies)
    except Exception as error:  # noqa: BLE001 - whatever it is belongs to whoever asked, and the thread goes on
        job.error = error
