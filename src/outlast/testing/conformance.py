"""Hold a live store to the store contract: `python -m outlast.testing.conformance TARGET`.

TARGET is the address of a server (`postgresql://`, `redis://`, `rediss://`, `unix://`), `sqlite:PATH`, or `package.module:function`
for a store of your own: a context manager that gives a function, which gives for each call what makes handles on another empty
storage. A single `-` reads it from stdin, where no other user of the machine sees a password.

Every test has a storage of its own, made beside the real one and removed at the end, also after Ctrl-C.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any, Final

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import Broken, CallerMistake, OutlastError
from outlast.ports.store import Store

NewStorage = Callable[[], Callable[[], Store]]
"""Gives what makes handles, not yet open, on another empty storage."""

STORAGE: Final = "outlast-storage"
"""The name under which tests find where to make their stores."""

_CONTRACTS: Final = "outlast.testing.contracts"
_SUITE: Final = Path(__file__).with_name("contracts") / "bound_store.py"
_ALONE: Final = (
    *(
        "-c",
        "/dev/null",
        "--rootdir",
        str(_SUITE.parent),
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
    ),
    *("-o", "asyncio_default_fixture_loop_scope=function"),
)
"""What keeps the configuration of the folder this happens in out of it."""

_FOLDER: Final = "outlast.adapters.stores"
_INTERRUPTED: Final = 130
_USAGE: Final = 2


@dataclass(slots=True)
class Verdict:
    """What came of it: how many tests passed and were left out, and what failed, by test, with what it said first."""

    passed: int = 0
    skipped: int = 0
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Storage:
    """A plugin of pytest that does nothing but to be found by its name, `STORAGE`."""

    new: NewStorage


class _Watcher:
    """A plugin of pytest that hands the storage in and keeps what came of each test."""

    def __init__(self, new_storage: NewStorage) -> None:
        self.verdict = Verdict()
        self._storage = _Storage(new_storage)

    def pytest_configure(self, config: Any) -> None:
        """Tests are about to be collected."""
        config.pluginmanager.register(self._storage, STORAGE)
        import_module("pytest").register_assert_rewrite(_CONTRACTS)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A phase of a test has ended."""
        name = report.nodeid.rpartition("::")[2]
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = str(report.longrepr if crash is None else crash.message).strip()
            self.verdict.failed.setdefault(name, said.partition("\n")[0])
        elif report.skipped:
            self.verdict.skipped += 1
        elif report.when == "call":
            self.verdict.passed += 1


def hold_to_contract(target: str, *, allow_loss: bool = False, only: str = "") -> Verdict:
    """What comes of the store contract on scratch storage beside the store that `target` names. The tests are told on stdout.

    `only` is an expression of pytest that the names of tests must fit. Raises CallerMistake: `extra_missing` without pytest,
    `store_url` for what is no target; what opening the store raises; and KeyboardInterrupt when it did not come to its end.
    """
    for library in ("pytest", "pytest_asyncio"):
        if find_spec(library) is None:
            raise CallerMistake(
                "extra_missing",
                f"The store contract needs a library that is not installed ({library}).",
                "Install it with: pip install 'outlast[testing]'",
            )
    pytest = import_module("pytest")
    with _unhurried_removal(_scratch(target, allow_loss=allow_loss)) as new_storage:
        watcher = _Watcher(new_storage)
        code = pytest.main(["-q", "--tb=short", *_ALONE, "-k", only, str(_SUITE)], plugins=[watcher])
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise Broken(
            "conformance_unknown", f"pytest ended with code {code}, before any result.", "Read what it said."
        )
    return watcher.verdict


def main(words: Sequence[str] | None = None) -> int:
    """Carry it out; 0 when every test passed, 1 when one failed, 2 for a target that cannot be used, 130 when interrupted."""
    asked = _parser().parse_args(words)
    target = sys.stdin.readline().strip() if asked.target == "-" else asked.target
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with contextlib.redirect_stdout(sys.stderr) if asked.json else contextlib.nullcontext():
            verdict = hold_to_contract(target, allow_loss=asked.allow_loss, only=asked.only)
    except OutlastError as error:
        return _told(error, as_json=asked.json)
    except KeyboardInterrupt:
        return _INTERRUPTED
    if asked.json:
        _document(asdict(verdict))
    return 1 if verdict.failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m outlast.testing.conformance", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("target", metavar="TARGET")
    takes_loss = "take a Redis that may lose what it has answered"
    parser.add_argument("--allow-loss", action="store_true", help=takes_loss)
    parser.add_argument("--only", default="", help="only tests whose names fit this expression of pytest")
    as_json = "one JSON document on stdout, the tests on stderr"
    parser.add_argument("--json", action="store_true", help=as_json)
    return parser


def _scratch(target: str, *, allow_loss: bool) -> AbstractContextManager[NewStorage]:
    kind, _, rest = target.partition(":")
    match kind:
        case "postgresql" | "postgres":
            return _own("postgres")(target)
        case "redis" | "rediss" | "unix":
            return _own("redis")(target, allow_loss=allow_loss)
        case "sqlite" if rest:
            return _own("sqlite")(Path(rest))
    return _of_others(kind, rest)


def _own(backend: str) -> Callable[..., AbstractContextManager[NewStorage]]:
    try:
        found: Callable[..., AbstractContextManager[NewStorage]] = import_module(
            f"{_FOLDER}.{backend}.scratch"
        ).scratch_stores
    except ModuleNotFoundError as error:
        detail = f"A {backend} store needs a library that is not installed ({error.name})."
        raise CallerMistake(
            "extra_missing", detail, f"Install it with: pip install 'outlast[{backend}]'"
        ) from error
    return found


def _of_others(module: str, name: str) -> AbstractContextManager[NewStorage]:
    sys.path.insert(0, "")
    try:
        found: AbstractContextManager[NewStorage] = getattr(import_module(module), name)()
    except (ImportError, AttributeError, ValueError) as error:
        raise CallerMistake(
            "store_url",
            f"There is no store to hold to the contract: {error}.",
            "Give postgresql://..., redis://..., sqlite:PATH, or package.module:function for a store of your own.",
        ) from error
    return found


@contextlib.contextmanager
def _unhurried_removal(scratch: AbstractContextManager[NewStorage]) -> Iterator[NewStorage]:
    """The scratch storage; no signal interrupts its removal."""
    with contextlib.ExitStack() as stack:
        new_storage = stack.enter_context(scratch)
        stack.callback(_ignore_interrupts)
        yield new_storage


def _ignore_interrupts() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _told(error: OutlastError, *, as_json: bool) -> int:
    is_of_caller = isinstance(error, CallerMistake)
    if as_json:
        told = {"code": error.code, "detail": error.detail, "next": error.next_step}
        _document({"error": {**told, "is_of_caller": is_of_caller}})
    else:
        sys.stderr.write(f"error: {error.detail}\n  next: {error.next_step}\n")
    return _USAGE if is_of_caller else 1


def _document(found: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    sys.exit(main())
