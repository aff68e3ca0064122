"""Pauses before a server is tried again: none for the first loss, growing after that, forgotten in time."""

from outlast.adapters.mcp.pacing import CRASH_MEMORY_SECONDS, LONGEST_PAUSE_SECONDS, Pacing


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_pauses_grow_with_failures_in_a_row_up_to_a_bound() -> None:
    pacing = Pacing(Clock())
    pauses = []
    for _ in range(12):
        pacing.note_failure()
        pauses.append(pacing.pause_seconds)
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[1], pauses[-1]) == (0.5, 1.0, LONGEST_PAUSE_SECONDS)
    pacing.note_success()
    pacing.note_failure()
    assert pacing.pause_seconds == 0.5


def test_the_first_loss_of_a_connection_is_forgiven_and_old_ones_are_forgotten() -> None:
    clock = Clock()
    pacing = Pacing(clock)
    pacing.note_crash()
    assert pacing.pause_seconds == 0
    pacing.note_crash()
    assert pacing.pause_seconds == 0.5
    clock.seconds += CRASH_MEMORY_SECONDS + 1
    pacing.note_crash()
    assert pacing.pause_seconds == 0
