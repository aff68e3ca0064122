"""Holding the store of a configuration to the store contract, in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any, Final

from outlast.domain.errors import Broken, CallerMistake
from outlast.wiring.settings.tree import Settings
from outlast.wiring.stores import address_of

_SUITE: Final = "outlast.testing.conformance"
_REMOVAL_SECONDS: Final = 60.0


def conformance_of(settings: Settings) -> dict[str, Any]:
    """What came of the store contract on scratch storage beside the store: `passed`, `skipped`, and `failed` with reasons by test.

    The tests are told on stderr. What they made is removed at the end, also after Ctrl-C; the store itself is not touched. Raises
    CallerMistake and Broken as opening the store does, and CallerMistake (`extra_missing`) without pytest.
    """
    more = ["--allow-loss"] if settings.harness.persistence.allow_loss else []
    # The address may hold a password, which the list of processes must not show. In a session of its own, so that a Ctrl-C
    # reaches it once, through us, and never while it removes what it made.
    process = subprocess.Popen(
        [sys.executable, "-m", _SUITE, "--json", *more, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(address_of(settings, os.environ) + "\n")
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait(_REMOVAL_SECONDS)
        raise
    return _verdict(said)


def _verdict(said: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(said)
    except ValueError:
        detail = "The store contract ended without a result."
        raise Broken("conformance_unknown", detail, "Read what it said, and try again.") from None
    error = found.get("error")
    if error is not None:
        kind = CallerMistake if error["is_of_caller"] else Broken
        raise kind(error["code"], error["detail"], error["next"])
    return found
