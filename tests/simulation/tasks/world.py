"""One small world: workers that die, freeze and have wrong clocks, a store that fails, a lying server, people, and time.

Everything falls as one seed has it, so a schedule can be played again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from outlast.domain.background import BackgroundTask, TaskStatus
from outlast.domain.errors import Broken
from outlast.domain.notification import Notification
from outlast.ports.background_driver import Answer
from outlast.ports.batch import Item
from outlast.ports.queue import Claim, Enqueue, Release
from outlast.ports.run_rows import InsertRun
from outlast.ports.task_rows import UpdateTask
from outlast.tasks.acts import Acts, Held
from outlast.tasks.desk import Kept, happen, items_to_insert
from outlast.tasks.happenings import (
    Answered,
    CancelAsked,
    Happening,
    Queue,
    Redriven,
    RunEnded,
    Submitted,
    ThreadGone,
)
from outlast.tasks.rules import Moment, TaskRules
from outlast.tasks.wishes import begun, handle_of
from tests.simulation.tasks.agents import Agents, Talk, moments, new_run
from tests.simulation.tasks.laws import Broke, Laws, ensure
from tests.simulation.tasks.remote import Job, LyingRemote
from tests.simulation.tasks.shelf import Shelf, read_row
from tests.simulation.tasks.steps import SteppingStore, Work

START = datetime(2026, 3, 1, tzinfo=UTC)
RULES = TaskRules(max_backoff_seconds=60.0, max_attempts=2)
QUEUES = (Queue.POLL.value, Queue.CANCEL.value, Queue.NOTIFY.value, "runs")
STEPS = 70
ROUGH_STEPS = 110
MOST_STEPS_TO_REST = 6_000
SKEWS_SECONDS = (0.0, -60.0, 60.0)


class World:
    """Two workers, up to three tasks in up to two threads."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.now = START
        self.crashes = 0
        self.talk = Talk({"t-0", "t-1"}, is_doomed=self.dice.random() < 0.3)
        self.remote = LyingRemote(self.dice)
        self.shelf = Shelf(lambda: self.now)
        self.laws = Laws(self.talk, self.remote.jobs, RULES)
        self.works: list[Work[Any]] = []
        self.given: dict[str, Answer] = {}
        self._known: dict[str, BackgroundTask] = {}
        self._ended_runs: dict[str, list[tuple[str, int]]] = {}
        for number in range(1 + self.dice.randrange(3)):
            self._add(f"k-{number}")

    def _add(self, task_id: str) -> None:
        """A task that works, or one whose submit is under way."""
        is_submitting = self.dice.random() < 0.15
        self.remote.jobs[task_id] = Job()
        task = BackgroundTask(
            task_id=task_id,
            user_id="ann",
            thread_id=f"t-{self.dice.randrange(2)}",
            run_id="r-0",
            call_id="c1-0",
            name=task_id,
            tool="render",
            created_at=self.now,
            updated_at=self.now,
            driver="mcp",
            server="renderer",
            principal="p",
            remote_id=None if is_submitting else task_id,
            status=TaskStatus.SUBMITTING if is_submitting else TaskStatus.WORKING,
            notify="off" if self.dice.random() < 0.05 else "agent",
        )
        self.shelf.commit(items_to_insert(begun(task, RULES, Moment(self.now), submit_seconds=60)))
        self._known[task_id] = read_row(self.shelf.tasks[task_id])

    def play(self) -> None:
        """Many things happen; then nothing more goes wrong, and everything must come to its end."""
        for _ in range(STEPS):
            self._something()
        for _ in range(ROUGH_STEPS):
            self._go_on_roughly()
        self._calm_down()
        self._come_to_rest()
        self._check_rest()

    def _something(self) -> None:
        chance = self.dice.random()
        if self.works and chance < 0.6:
            self._step(self.dice.choice(self.works))
        elif chance < 0.78:
            if not self._take(self.dice.randrange(2)) and not self.works:
                self._sleep()
        elif chance < 0.88:
            self.now += timedelta(seconds=self.dice.choice((0.1, 1, 6, 12, 31)))
        elif chance < 0.94:
            self._somebody_acts()
        else:
            self._kill(self.dice.randrange(2))

    def _go_on_roughly(self) -> None:
        """Everything goes on as fast as it can, and all may still go wrong."""
        chance = self.dice.random()
        if chance < 0.03:
            self._kill(self.dice.randrange(2))
        elif self.works:
            self._step(self.dice.choice(self.works))
        elif chance < 0.1:
            self._somebody_acts()
        elif not self._take(self.dice.randrange(2)):
            self._sleep()

    def _take(self, worker: int) -> bool:
        """A worker takes one thing that is due."""
        queues = [queue for queue in QUEUES if self._is_due(queue)]
        if not queues:
            return False
        [claim] = self.shelf.claim(self.dice.choice(queues), f"worker-{worker}", RULES.lease_seconds)
        skew = 0.0 if self.remote.is_calm else self.dice.choice(SKEWS_SECONDS)
        held = Held(claim, moments(claim, lambda: self.now, skew, self.dice))
        store: Any = SteppingStore(self.shelf, lambda batch: self._written(batch, claim))
        acts, agents = Acts(store, self.remote, rules), Agents(store, rules, self.talk, self.dice)
        self.works.append(Work(claim.queue, worker, self._act(held, acts, agents)))
        return True

    def _sleep(self) -> bool:
        """Until something is due; of the ends of retention nobody waits for."""
        due = [at for at in map(self.shelf.next_due, QUEUES) if at is not None]
        later = [at for at in due if at < self.now + timedelta(days=1)]
        self.now = max(self.now, min(later, default=self.now))
        return bool(later)

    def _is_due(self, queue: str) -> bool:
        due_at = self.shelf.next_due(queue)
        return due_at is not None and due_at <= self.now

    async def _act(self, held: Held, acts: Acts, agents: Agents) -> None:
        queue, item = held.claim.queue, held.claim.item
        if queue == "runs":
            await agents.carry_on(held)
            return
        row = self.shelf.tasks[item]
        kept = Kept(read_row(row), row.revision)
        act = {Queue.POLL.value: acts.poll, Queue.CANCEL.value: acts.cancel, Queue.NOTIFY.value: agents.tell}[
            queue
        ]
        await act(held, kept)

    def _step(self, work: Work[Any]) -> None:
        """Let a work go on; now and then its process dies there, or the store does not answer it."""
        if not self.remote.is_calm and work.at is not None and work.at.is_store and self.dice.random() < 0.05:
            code = "commit_unknown" if work.at.label.startswith("commit") else "store_unavailable"
            self._finish(work, Broken(code, "the connection broke", ""))
            return
        self._finish(work, None)

    def _finish(self, work: Work[Any], error: Exception | None) -> None:
        try:
            if work.go_on(error):
                self.works.remove(work)
        except Broken:
            self.works.remove(work)  # the lane lets the lease run out

    def _kill(self, worker: int) -> None:
        self.crashes += 1
        for work in [work for work in self.works if work.worker == worker]:
            work.drop()
            self.works.remove(work)

    def _somebody_acts(self) -> None:
        task = self._known[self.dice.choice(sorted(self._known))]
        if task.open_questions and self.dice.random() < 0.5:
            self._answer(task)
            return
        if task.notification is Notification.DISPATCHED and self.dice.random() < 0.5:
            self._late_word(task)
            return
        choices: list[Callable[[BackgroundTask], None]] = [
            lambda task: self._happen(task, CancelAsked("ann")),
            self._answer,
            lambda task: self._happen(task, Redriven()),
            self._handle_comes,
            lambda task: self._user_run(task.thread_id),
            lambda task: self._user_run(task.thread_id),
            self._delete_thread,
        ]
        self.dice.choice(choices)(task)

    def _happen(self, task: BackgroundTask, happening: Happening) -> None:
        """Somebody does something through another process, which may die of it."""
        store: Any = SteppingStore(self.shelf, lambda batch: self._written(batch, None))
        doing = happen(store, task.task_id, happening, rules, Moment(self.now, self.dice.random()))
        self.works.append(Work("happen", 2, doing))

    def _answer(self, task: BackgroundTask) -> None:
        for key in list(task.open_questions)[:1]:
            answer = Answer("accept", {"n": self.dice.randrange(1000)})
            self._happen(task, Answered(key, answer, "ann"))

    def _handle_comes(self, task: BackgroundTask) -> None:
        if task.remote_id is None:
            handle = handle_of(replace(task, remote_id=task.task_id))
            self._happen(task, Submitted(handle))

    def _user_run(self, thread_id: str) -> None:
        """A person talks in the thread; sometimes that run stands still for a while."""
        if thread_id in self.talk.alive and self.shelf.active_run(thread_id) is None:
            run_id = f"u-{len(self.shelf.runs)}"
            self.shelf.commit(
                [InsertRun(new_run(run_id, thread_id, self.now)), Enqueue("runs", run_id, self.now, "ann")]
            )
            if self.dice.random() < 0.3:
                self.talk.standing_still.add(run_id)

    def _delete_thread(self, task: BackgroundTask) -> None:
        if self.dice.random() < 0.15 and task.thread_id in self.talk.alive:
            self.talk.alive.discard(task.thread_id)
            if self.dice.random() < 0.5:
                for other in self._known.values():
                    if other.thread_id == task.thread_id:
                        self._happen(other, ThreadGone(by_owner=True))
                        self._happen(other, CancelAsked("ann"))

    def _late_word(self, task: BackgroundTask) -> None:
        """An old run is said to have ended once more."""
        for run_id, version in self._ended_runs.get(task.task_id, []):
            error = None if self.dice.random() < 0.5 else "late"
            self._happen(task, RunEnded(run_id, version, error))

    def _written(self, batch: Sequence[Item], claim: Claim | None) -> None:
        """Every write is checked, and who wrote it."""
        if claim is not None:
            released = any(isinstance(item, Release) and item.item == claim.item for item in batch)
            generation = self.shelf.entries.get((claim.queue, claim.item))
            is_newest = generation is None or generation.generation == claim.generation
            ensure(is_newest and released, "a stale worker wrote, or kept its lease")
        for item in batch:
            if isinstance(item, UpdateTask):
                before, task = self._known[item.row.task_id], read_row(self.shelf.tasks[item.row.task_id])
                self.laws.write(before, task)
                self._known[task.task_id] = task
                self._note(before, task)
        self.laws.heard(self.now)

    def _note(self, before: BackgroundTask, task: BackgroundTask) -> None:
        for key, question in task.questions.items():
            if question.answer is not None and question.answer.by == "ann":
                answer = Answer(question.answer.action, question.answer.content)
                self.given.setdefault(f"{task.task_id} {key}", answer)
        if (
            before.notification is Notification.DISPATCHED
            and task.notification is not Notification.DISPATCHED
        ):
            run_id = before.notification_run_id or ""
            self._ended_runs.setdefault(task.task_id, []).append((run_id, before.dispatch_version))

    def _calm_down(self) -> None:
        self.remote.is_calm = self.talk.is_calm = True
        self.talk.standing_still.clear()

    def _come_to_rest(self) -> None:
        """Nothing goes wrong any more: what is due is done, questions are answered, dead letters are sent again."""
        for _ in range(MOST_STEPS_TO_REST):
            while self.works:
                self._step(self.works[0])
            if not self._take(0) and not self._tidy() and not self._sleep():
                return
        raise Broke("it never comes to rest")

    def _tidy(self) -> bool:
        """What people do until nothing is left."""
        for task in list(self._known.values()):
            if task.is_open and task.open_questions and task.cancel_requested_at is None:
                self._answer(task)
                return True
            if task.notification is Notification.DEAD_LETTER and task.thread_id in self.talk.alive:
                self._happen(task, Redriven())
                return True
            if task.remote_id is None and task.is_open and self.dice.random() < 0.5:
                self._handle_comes(task)
                return True
        return False

    def _check_rest(self) -> None:
        ensure(not any(run.is_active for run in self.shelf.runs.values()), "a run never ended")
        heard = {task_id: (version, event) for task_id, version, event in self.talk.heard}
        for task in self._known.values():
            self.laws.at_rest(task, heard.get(task.task_id))
            self.laws.answered(task, self.remote.jobs[task.task_id], self.given)


def rules(task: BackgroundTask) -> TaskRules:
    """The rules of every task."""
    return RULES


def play(seed: int) -> World:
    """One schedule; what breaks in it names its seed."""
    world = World(seed)
    try:
        world.play()
    except BaseException as error:
        error.add_note(f"seed {seed}")
        raise
    finally:
        for work in world.works:
            work.drop()
    return world
