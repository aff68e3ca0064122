"""Snapshots: a folded state kept beside the journal, so that a long run is not folded from its first event.

A snapshot of another fold version, or one that cannot be read, is not used; the journal is folded instead.
"""

from __future__ import annotations

import json
from typing import Final

from outlast.domain.door import canonical_json, digest_of, json_writer
from outlast.domain.run import FOLD_VERSION, RunState
from outlast.journal.codec import UNREADABLE, from_plain, to_plain
from outlast.ports.stream import PutSnapshot, SnapshotRow

EVERY: Final = 200
"""A snapshot is taken after this many events."""


_dump: Final = json_writer()
"""Keeps the order of keys, which is the order in which things were begun and asked."""


def snapshot_of(state: RunState) -> PutSnapshot:
    """The snapshot of a state, to ride in a commit."""
    return PutSnapshot(state.run_id, state.position, FOLD_VERSION, _dump(to_plain(state)))


def state_in(row: SnapshotRow | None) -> RunState | None:
    """The state a snapshot holds, if it can be used."""
    if row is None or row.fold_version != FOLD_VERSION:
        return None
    try:
        state: RunState = from_plain(RunState, json.loads(row.body))
    except UNREADABLE:
        return None
    return state if state.position == row.position else None


def state_digest(state: RunState) -> str:
    """The fold version and a digest of everything in a state but its run, position and times: equal states, equal digests.

    The run is left out because a fork has the digests of its original in its journal.
    """
    plain = to_plain(state)
    for name in ("run_id", "position", "at", "counted_at"):
        plain.pop(name, None)
    return f"{FOLD_VERSION}:{digest_of(canonical_json(plain))[:20]}"


def is_comparable(digest: str) -> bool:
    """Was this digest made by the present fold?"""
    return digest.startswith(f"{FOLD_VERSION}:")


def difference_between(recorded: RunState, folded: RunState) -> str:
    """The fields in which two states differ, in words."""
    left, right = to_plain(recorded), to_plain(folded)
    names = [name for name in sorted({*left, *right}) if left.get(name) != right.get(name)]
    return "; ".join(f"{name}: {_short(left.get(name))} became {_short(right.get(name))}" for name in names)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."
