"""Live frames within this process: who watches a run hears the pieces of its answers as they come."""

from __future__ import annotations

from collections.abc import Callable

from outlast.ports.live import Frame

Listener = Callable[[Frame], None]


class LocalLive:
    """Hands frames to listeners by run; a listener that raises is dropped."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = {}

    def publish(self, frame: Frame) -> None:
        """Hand a frame to whoever watches its run."""
        for listener in list(self._listeners.get(frame.run_id, ())):
            try:
                listener(frame)
            except Exception:  # noqa: BLE001 - whoever watches must not disturb the run
                self.leave(frame.run_id, listener)

    def is_heard(self, run_id: str) -> bool:
        """Does anybody watch a run?"""
        return run_id in self._listeners

    def join(self, run_id: str, listener: Listener) -> None:
        """Hear the frames of a run from now on."""
        self._listeners.setdefault(run_id, []).append(listener)

    def leave(self, run_id: str, listener: Listener) -> None:
        """Hear them no longer. Safe to call twice."""
        listeners = self._listeners.get(run_id, [])
        if listener in listeners:
            listeners.remove(listener)
        if not listeners:
            self._listeners.pop(run_id, None)
