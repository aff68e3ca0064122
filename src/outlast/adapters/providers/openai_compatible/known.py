"""What was learned of models, kept in a file, so that the next process does not have to be refused the same things again."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from outlast.adapters.providers.openai_compatible.dialect import Dialect
from outlast.domain.door import digest_of

LEARNED_ANEW_SECONDS: Final = 7 * 24 * 3600.0
"""How long something learned is believed: servers are updated, and what one refused it may take by then."""

_VALUES: Final[dict[str, tuple[object, ...]]] = {
    "structured": ("json_schema", "json_object", "none"),
    "states_usage": (True, False),
    "limit_name": ("max_tokens", "max_completion_tokens"),
    "takes_temperature": (True, False),
    "takes_reasoning": (True, False),
}
_log = logging.getLogger(__name__)
_lock = threading.Lock()


class KnownDialects(MutableMapping[str, Dialect]):
    """The dialects of the models at one address, by model, as far as they differ from the usual one.

    They are kept in the file `path`, beside those of other addresses, which are named by digests since they may hold keys. A file
    that is not there, is damaged or cannot be written costs nothing but what it would have saved. `clock` gives Unix time in seconds.
    """

    def __init__(self, path: Path, base_url: str, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._address = digest_of(base_url)[:32]
        self._clock = clock
        self._known: dict[str, Dialect] | None = None

    def __getitem__(self, model: str) -> Dialect:
        return self._loaded()[model]

    def __setitem__(self, model: str, dialect: Dialect) -> None:
        known = self._loaded()
        if known.get(model, Dialect()) != dialect:
            known[model] = dialect
            self._keep(model, dialect)

    def __delitem__(self, model: str) -> None:
        self[model] = Dialect()

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded())

    def __len__(self) -> int:
        return len(self._loaded())

    def _loaded(self) -> dict[str, Dialect]:
        if self._known is None:
            entries = _read(self._path).get(self._address, {})
            self._known = {
                model: _dialect_in(entry) for model, entry in entries.items() if self._holds(entry)
            }
        return self._known

    def _holds(self, entry: object) -> bool:
        """Is it an entry at all, and not too old? One from the future is no better than an old one."""
        if not isinstance(entry, dict) or any(entry.get(name) not in may for name, may in _VALUES.items()):
            return False
        at = entry.get("learned_at")
        return isinstance(at, int | float) and 0 <= self._clock() - at < LEARNED_ANEW_SECONDS

    def _keep(self, model: str, dialect: Dialect) -> None:
        with _lock:
            known = _read(self._path)
            known.setdefault(self._address, {})[model] = {**asdict(dialect), "learned_at": self._clock()}
            fresh = {
                address: {name: entry for name, entry in models.items() if self._holds(entry)}
                for address, models in known.items()
            }
            _write(self._path, {address: models for address, models in fresh.items() if models})


def _dialect_in(entry: dict[str, Any]) -> Dialect:
    return Dialect(**{name: entry[name] for name in _VALUES})


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        known = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {address: models for address, models in known.items() if isinstance(models, dict)}


def _write(path: Path, known: dict[str, dict[str, Any]]) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        draft.write_text(json.dumps(known, indent=1), "utf-8")
        draft.replace(path)
    except OSError as error:
        _log.debug("what was learned of models cannot be kept in %s: %s", path, error)
