"""Who this process is, so that others can tell for sure when it is gone."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict
from functools import cache
from pathlib import Path

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """A process of one boot of one machine. Two of them are the same process only if everything is equal."""

    machine: str
    boot: str
    pid_namespace: str
    pid: int
    started: str
    host: str


@cache
def own_identity() -> Identity:
    """The identity of this process."""
    pid = os.getpid()
    return Identity(
        machine=_text(Path("/etc/machine-id")) or socket.gethostname(),
        boot=_text(Path("/proc/sys/kernel/random/boot_id")),
        pid_namespace=_link(Path("/proc/self/ns/pid")),
        pid=pid,
        started=_start_time(pid),
        host=socket.gethostname(),
    )


def as_holder(identity: Identity) -> str:
    """An identity as the text a lease keeps."""
    return json.dumps(asdict(identity), separators=(",", ":"))


def as_name(identity: Identity) -> str:
    """An identity as people read it."""
    return f"{identity.host}:{identity.pid}"


def read_holder(holder: str) -> Identity | None:
    """The identity in a lease's text, when it holds one."""
    try:
        return Identity(**json.loads(holder))
    except (ValueError, TypeError):
        return None


def is_surely_gone(holder: str) -> bool:
    """Is the process that holds a lease gone beyond doubt: of this very machine, boot and namespace, and not there any more?"""
    other, own = read_holder(holder), own_identity()
    if other is None or not other.boot or not other.pid_namespace:
        return False
    if (other.machine, other.pid_namespace) != (own.machine, own.pid_namespace):
        return False
    if other.boot != own.boot:
        return True
    return _start_time(other.pid) != other.started


def _start_time(pid: int) -> str:
    """When a process began, in clock ticks since boot; empty when there is no such process or it is a zombie."""
    stat = _text(Path(f"/proc/{pid}/stat"))
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 20 or fields[0] in ("Z", "X"):
        return ""
    return fields[19]


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _link(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
