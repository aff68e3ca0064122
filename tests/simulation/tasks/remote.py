"""A server of tasks that repeats itself, flaps, lies, forgets, loses answers and ignores cancels, as its dice fall."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from outlast.ports.background_driver import (
    Acknowledged,
    Answer,
    BackgroundDriver,
    Forgotten,
    Handle,
    Product,
    Question,
    RemoteStatus,
    Snapshot,
    Trouble,
)
from tests.simulation.tasks.steps import Step

ENDS = {
    "completed": Snapshot(status=RemoteStatus.COMPLETED, product=Product("done")),
    "bad": Snapshot(status=RemoteStatus.COMPLETED, product=Product("no", is_error=True)),
    "failed": Snapshot(status=RemoteStatus.FAILED, error_code="boom", error="It broke."),
    "cancelled": Snapshot(status=RemoteStatus.CANCELLED),
}


@dataclass
class Job:
    """What the server really does for one task."""

    end: str | None = None
    questions: dict[str, int] = field(default_factory=dict)
    received: dict[str, Answer] = field(default_factory=dict)
    is_forgotten: bool = False
    times_forgotten: int = 0
    was_fatal: bool = False


class LyingRemote:
    """Both the drivers and the server. Once it is `calm` it says the truth, and every task comes to its end."""

    can_cancel = True
    can_answer = True

    def __init__(self, dice: Random) -> None:
        self.jobs: dict[str, Job] = {}
        self.is_calm = False
        self._dice = dice
        self._is_away = False

    async def driver_for(self, driver: str, server: str) -> BackgroundDriver | Trouble:
        """See `BackgroundDrivers.driver_for`."""
        return self

    async def poll(self, handle: Handle, deadline_seconds: float) -> Snapshot | Forgotten | Trouble:
        """See `BackgroundDriver.poll`."""
        await Step("poll")
        job = self.jobs[handle.remote_id]
        reply = self._calm_reply(job) if self.is_calm else self._reply(job)
        job.times_forgotten += isinstance(reply, Forgotten)
        await Step("polled")
        return reply

    async def answer(
        self, handle: Handle, answers: Mapping[str, Answer], deadline_seconds: float
    ) -> Acknowledged | Forgotten | Trouble:
        """See `BackgroundDriver.answer`. Some answers are taken and lost."""
        await Step("answer")
        chance, job = 1.0 if self.is_calm else self._dice.random(), self.jobs[handle.remote_id]
        if chance < 0.15:
            return Trouble("unreachable", f"reset {chance}", "")
        if chance > 0.35:
            for key, answer in answers.items():
                job.received.setdefault(key, answer)
        return Acknowledged()

    async def cancel(self, handle: Handle, deadline_seconds: float) -> Acknowledged | Forgotten | Trouble:
        """See `BackgroundDriver.cancel`. Some cancels are taken and ignored."""
        await Step("cancel")
        chance, job = 1.0 if self.is_calm else self._dice.random(), self.jobs[handle.remote_id]
        if chance < 0.3:
            return Trouble("unreachable", f"reset {chance}", "")
        if chance < 0.35:
            return Forgotten()
        if chance > 0.6 and job.end is None:
            job.end = "cancelled"
        return Acknowledged()

    def _reply(self, job: Job) -> Snapshot | Forgotten | Trouble:
        chance = self._dice.random()
        if self._dice.random() < 0.08:
            self._is_away = not self._is_away
        if job.is_forgotten or chance < 0.06:
            job.is_forgotten = job.is_forgotten or chance < 0.01
            return Forgotten()
        if self._is_away:
            job.was_fatal = job.was_fatal or chance > 0.97
            return Trouble("unreachable", f"refused at {chance}", "Start it.", passing=chance <= 0.97)
        if job.end is not None:
            lie = chance > 0.8
            return self._dice.choice([*ENDS.values(), self._working(chance)]) if lie else ENDS[job.end]
        if chance > 0.8 and job.questions.keys() <= job.received.keys():
            job.end = self._dice.choice(list(ENDS))
        elif chance > 0.65 and len(job.questions) < 2:
            job.questions[f"q{len(job.questions)}"] = self._dice.randrange(5)
        return self._standing(job, chance)

    def _standing(self, job: Job, chance: float) -> Snapshot:
        """A question is asked until its answer was received, and some times after that."""
        asking = {
            key: Question("form", f"Which {key}?") for key in job.questions if self._is_asking(job, key)
        }
        if not asking or chance < 0.15:
            return self._working(chance)
        return Snapshot(status=RemoteStatus.INPUT_REQUIRED, questions=asking)

    def _is_asking(self, job: Job, key: str) -> bool:
        if key not in job.received:
            return True
        job.questions[key] -= 1
        return job.questions[key] >= 0

    def _working(self, chance: float) -> Snapshot:
        wish, ttl = (chance * 40, 900.0) if chance < 0.5 else (None, None)
        message = f"{int(chance * 4)} of 4"
        return Snapshot(
            status=RemoteStatus.WORKING, message=message, poll_after_seconds=wish, ttl_seconds=ttl
        )

    def _calm_reply(self, job: Job) -> Snapshot | Forgotten:
        if job.is_forgotten:
            return Forgotten()
        waiting = {key for key in job.questions if key not in job.received}
        if job.end is None and waiting:
            questions = {key: Question("form", f"Which {key}?") for key in waiting}
            return Snapshot(status=RemoteStatus.INPUT_REQUIRED, questions=questions)
        job.end = job.end or "completed"
        return ENDS[job.end]
