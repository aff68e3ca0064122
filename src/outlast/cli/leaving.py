"""Leaving the event loop of a command, also where code of a user's will not stop."""

from __future__ import annotations

import asyncio
from typing import Final

STOP_SECONDS: Final = 1.0
"""How long what still goes on in the loop may take to stop."""


def leave(runner: asyncio.Runner) -> None:
    """Close the loop. What does not stop, though it was cancelled, ends with the process: the loop is then left as it is."""
    if runner.run(_has_stopped()):
        runner.close()
    else:
        runner.get_loop().set_exception_handler(lambda loop, context: None)


async def _has_stopped() -> bool:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    return not others or not (await asyncio.wait(others, timeout=STOP_SECONDS))[1]
