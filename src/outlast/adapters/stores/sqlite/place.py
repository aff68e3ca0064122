"""Where the file of a store lies, and whether SQLite can be trusted there."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path

from outlast.domain.errors import Broken, CallerMistake, OutlastError

_NETWORK = frozenset(
    {
        "afs",
        "ceph",
        "cifs",
        "coda",
        "fuse.ceph",
        "fuse.davfs",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
    }
    | {"glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "orangefs", "smb3", "smbfs"}
)
_OF_THE_MACHINE = frozenset(
    {errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.ESTALE}
)
"""What a system refuses for now, whatever the path is."""

_OCTAL = re.compile(r"\\([0-7]{3})")


_NEXT_STEP = "Set harness.persistence.path to a file in a directory that this user may write to."


def prepare_file(path: Path) -> None:
    """Make the directory (mode 0700) and an empty file (mode 0600) where there is none.

    Raises CallerMistake (`store_path`) for a path that cannot be a store: a folder, below a file, without permission, on a network
    file system; and Broken (`store_unavailable`) where the machine is short of something.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_network(path)
        # Only ever a new file: closing an own descriptor of an open database would drop SQLite's locks on it.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError as error:
        if not path.is_file():
            raise _unusable(
                path, "a file is in the place of one of its folders, or a folder in its own"
            ) from error
        if not os.access(path, os.R_OK | os.W_OK):
            raise _unusable(path, "this user may not read and write it") from error
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno in _OF_THE_MACHINE:
            detail = f"The store {path} cannot be opened: {why}."
            raise Broken("store_unavailable", detail, "Make room for it, then try again.") from error
        raise _unusable(path, why) from error


def must_be_possible(path: Path) -> None:
    """Raise CallerMistake (`store_path`) where there is no file and none can be made, as far as a look can tell."""
    if path.is_dir():
        raise _unusable(path, "it is a folder")
    nearest = next(folder for folder in path.parents if os.path.lexists(folder))
    if not os.path.isdir(nearest):
        raise _unusable(path, f"{nearest} is no folder")


def _unusable(path: Path, why: str) -> OutlastError:
    return CallerMistake("store_path", f"The store {path} cannot be opened: {why}.", _NEXT_STEP)


def _refuse_network(path: Path) -> None:
    try:
        mounts = Path("/proc/mounts").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return  # not Linux: there is no table of mounts to look into
    kind = network_file_system(path.parent.resolve(), mounts)
    if kind is not None:
        raise CallerMistake(
            "store_path",
            f"The store {path} lies on a network file system ({kind}), where SQLite's locks and its shared memory do not hold.",
            "Set harness.persistence.path to a local disk, or use the postgres backend to share a store between machines.",
        )


def network_file_system(directory: Path, mounts: Iterable[str]) -> str | None:
    """The type of the file system under `directory` when it is one over a network, else None.

    `mounts` are lines of /proc/mounts. 9p counts only with a network transport: virtual machines share local folders with it.
    """
    kind, options, longest = "", "", -1
    for line in mounts:
        fields = line.split(" ")
        if len(fields) < 4:
            continue
        point = Path(_OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[1]))
        # A later line hides an earlier one of the same point.
        if len(point.parts) >= longest and directory.is_relative_to(point):
            kind, options, longest = fields[2], fields[3], len(point.parts)
    over_network = kind in _NETWORK or (kind == "9p" and ("trans=tcp" in options or "trans=rdma" in options))
    return kind if over_network else None
