"""The prepared process that tool processes are forked from: small, single-threaded, everything they need
imported.

It lives as long as its worker: when the socket to it closes, it ends, and each supervisor sees its own leash
go as well.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys
import traceback
from typing import Final, NoReturn

from outlast.adapters.execution.supervisor import Family, become_subreaper, supervise

DESCRIPTORS: Final = 3
"""How many descriptors come with each request: leash, talk, printed."""


def serve(descriptor: int) -> None:
    """Fork a supervisor for each request that comes over the socket `descriptor`, until its other end is closed."""
    requests = socket.socket(fileno=descriptor)
    become_subreaper()
    # What every tool imports is there already, and no collection touches the pages shared with the forks.
    importlib.import_module("outlast.tools")
    gc.collect()
    gc.freeze()
    wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    supervisors: set[int] = set()
    # A child that is no supervisor is an orphan whose supervisor was killed: it has no business here.
    family = Family(spared=supervisors)
    while True:
        ready, _, _ = select.select([requests.fileno(), wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            family.reap()
            family.signal(signal.SIGKILL)
        if requests.fileno() in ready:
            message, descriptors, _, _ = socket.recv_fds(requests, 1, DESCRIPTORS)
            if not message:
                return
            # When the machine is short of processes the leash closes unanswered, and the worker is told by that.
            with contextlib.suppress(BlockingIOError):
                supervisors.add(_fork(descriptors, (requests.fileno(), wake, waker)))


def _fork(descriptors: list[int], own: tuple[int, ...]) -> int:
    try:
        child = os.fork()
        if child == 0:
            _become_supervisor(descriptors, own)
        return child
    finally:
        for one in descriptors:
            os.close(one)


def _become_supervisor(descriptors: list[int], own: tuple[int, ...]) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in own:
            os.close(one)
        supervise(*descriptors)
    except BaseException:  # noqa: BLE001 - a fork never returns into the loop of its parent
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(1)
