"""Where the CPU time of this process goes, by room: a sampling profiler whose weights are the CPU clocks of the threads.

A sample is taken whenever the process has used about a millisecond of CPU. Each thread's CPU time since the last sample goes
to the innermost frame of outlast that the thread is in, so what a library does for a room counts as that room's.
"""

import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

INTERVAL_SECONDS = 0.001
SOURCE = str(Path(__file__).resolve().parent.parent / "src" / "outlast") + "/"

Place = tuple[str, str]


class Sampler:
    """CPU seconds by place (file below src/outlast, function), from `start` to `stop`. Use in the main thread."""

    def __init__(self) -> None:
        self.seconds: dict[Place, float] = {}
        self._used: dict[int, float] = {}

    def start(self) -> None:
        """Begin to take samples."""
        for thread in threading.enumerate():
            self._spent(thread.ident)
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL_SECONDS, INTERVAL_SECONDS)

    def stop(self) -> None:
        """Take no more samples."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def of_room(self, *rooms: str) -> float:
        """CPU seconds in files below any of these folders of src/outlast."""
        return sum(spent for (file, _), spent in self.seconds.items() if file.startswith(rooms))

    def by_room(self) -> dict[str, float]:
        """CPU seconds by room, the largest first."""
        rooms: dict[str, float] = {}
        for (file, _), spent in self.seconds.items():
            parts = file.split("/")
            room = "/".join(parts[: 2 if parts[0] == "adapters" else 1])
            rooms[room] = rooms.get(room, 0.0) + spent
        return dict(sorted(rooms.items(), key=lambda item: -item[1]))

    def _sample(self, _signal: int, frame: FrameType | None) -> None:
        main = threading.main_thread().ident
        frames = sys._current_frames()  # noqa: SLF001 - the only way to see what other threads do
        for thread in threading.enumerate():
            ident = thread.ident
            spent = self._spent(ident)
            if spent > 0 and ident in frames:
                place = place_of(frame if ident == main else frames[ident])
                self.seconds[place] = self.seconds.get(place, 0.0) + spent

    def _spent(self, ident: int | None) -> float:
        """CPU seconds of a thread since this was last asked."""
        if ident is None:
            return 0.0
        try:
            used = time.clock_gettime(time.pthread_getcpuclockid(ident))
        except OSError:
            return 0.0
        before, self._used[ident] = self._used.get(ident, 0.0), used
        return used - before


def place_of(frame: FrameType | None) -> Place:
    """The innermost place in outlast; `imports` while a module is loaded, `elsewhere` when nothing of outlast is on the stack."""
    found: Place | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib"):
            return "imports", ""
        if found is None and file.startswith(SOURCE):
            found = file.removeprefix(SOURCE), frame.f_code.co_name
        frame = frame.f_back
    return found or ("elsewhere", "")
