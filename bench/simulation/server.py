"""A store as something one waits in line for: requests in the order they come, those there at one moment share a sync."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable
from typing import Any

from bench.simulation.clockwork import Clockwork, Wait
from bench.simulation.costs import Costs

Act = Callable[[], tuple[Any, float]]
"""What a request does to the store: its answer, and the seconds of CPU it took."""


class Server:
    """Serves requests. `spent` are seconds of its time by kind of request, `asked` how many there were."""

    def __init__(self, clockwork: Clockwork, costs: Costs) -> None:
        self.costs = costs
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.asked: Counter[str] = Counter()
        self.longest_line = 0
        self._clockwork = clockwork
        self._line: deque[tuple[str, Act, bool, Wait]] = deque()
        self._is_busy = False
        self._notices_seconds = 0.0

    def ask(self, kind: str, act: Act, *, writes: bool = True) -> Wait:
        """Hand in a request; it is answered even when nobody waits any more."""
        wait = Wait(self._clockwork)
        self._clockwork.after(self.costs.reach / 2, self._arrive, (kind, act, writes, wait))
        return wait

    def notify(self, listeners: int) -> None:
        """Have the server tell that many listeners of something."""
        self.asked["hear"] += listeners
        self._notices_seconds += listeners * self.costs.hear

    def _arrive(self, request: tuple[str, Act, bool, Wait]) -> None:
        self._line.append(request)
        if not self._is_busy:
            self._serve()

    def _serve(self) -> None:
        """Serve the next group; what its requests do is done in order, and seen when all are durable."""
        self.longest_line = max(self.longest_line, len(self._line))
        cores, cpu_seconds, longest, is_written = self.costs.cores, self._notices_seconds, 0.0, False
        self.spent["hear"] += self._notices_seconds / cores
        self._notices_seconds = 0.0
        answers = []
        for _ in range(min(self.costs.group, len(self._line))):
            kind, act, writes, wait = self._line.popleft()
            value, seconds = act()
            answers.append((wait, value))
            self.asked[kind] += 1
            self.spent[kind] += seconds / cores
            cpu_seconds, longest, is_written = (
                cpu_seconds + seconds,
                max(longest, seconds),
                is_written or writes,
            )
        sync_seconds = self.costs.sync if is_written else 0.0
        self.spent["sync"] += sync_seconds
        self._is_busy = True
        self._clockwork.after(max(cpu_seconds / cores, longest) + sync_seconds, self._done, answers)

    def _done(self, answers: list[tuple[Wait, Any]]) -> None:
        self._is_busy = False
        for wait, value in answers:
            self._clockwork.after(self.costs.reach / 2, wait.happen, value)
        if self._line:
            self._serve()
