"""What libraries and adapters log, on stderr, from the level that is configured on."""

from __future__ import annotations

import logging
from typing import Final

from outlast.cli.printing import note

_TALKATIVE: Final = ("asyncio", "httpx", "httpx2", "httpcore", "httpcore2")
"""Libraries that tell each request at INFO; they are heard at DEBUG only."""


class _ToNotes(logging.Handler):
    """Writes where remarks go, so that a board on the terminal is not torn."""

    def emit(self, record: logging.LogRecord) -> None:
        note(self.format(record))


def configure_logs(level: str) -> None:
    """Log to stderr from `level` on: DEBUG, INFO, WARNING or ERROR."""
    handler = _ToNotes()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel("NOTSET" if level == "DEBUG" else "WARNING")
