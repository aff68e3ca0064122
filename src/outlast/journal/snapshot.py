"""Snapshots: a folded state kept beside the journal, so that a long run is not folded from its first event.

A snapshot of another fold version, or one that cannot be read, is not used; the journal is folded instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from outlast.domain.by_identity import by_identity
from outlast.domain.door import canonical_json, digest_of, json_writer
from outlast.domain.run import FOLD_VERSION, RunState
from outlast.domain.task import TaskDefinition
from outlast.journal.codec import UNREADABLE, Encoder, encoder_but_for, from_plain, to_plain
from outlast.ports.stream import PutSnapshot, SnapshotRow

EVERY: Final = 200
"""A snapshot is taken after this many events."""

MOST_DEFINITIONS: Final = 50
"""How many definitions are kept spelled: they are the bulk of a state, and the same from the first state of a run to its last."""

_dump: Final = json_writer()
"""Keeps the order of keys, which is the order in which things were begun and asked."""

_LEFT_OUT: Final = frozenset({"run_id", "position", "at", "counted_at"})
"""What a digest does not look at."""


@cache
def _encoder() -> Encoder:
    """Made when it is first needed, since whoever only imports this must not wait for it."""
    return encoder_but_for(RunState, "definition")


def _spelled_once(write: Callable[[object], str]) -> Callable[[TaskDefinition], str]:
    return by_identity(lambda definition: write(to_plain(definition)), MOST_DEFINITIONS)


_dumped_definition: Final = _spelled_once(_dump)
_canonical_definition: Final = _spelled_once(canonical_json)


def snapshot_of(state: RunState) -> PutSnapshot:
    """The snapshot of a state, to ride in a commit."""
    body = _written(_encoder()(state), _dump, _dumped_definition(state.definition))
    return PutSnapshot(state.run_id, state.position, FOLD_VERSION, body)


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
    fields = _encoder()(state)
    kept = {name: fields[name] for name in sorted(fields) if name not in _LEFT_OUT}
    text = _written(kept, canonical_json, _canonical_definition(state.definition))
    return f"{FOLD_VERSION}:{digest_of(text)[:20]}"


def _written(fields: dict[str, Any], write: Callable[[object], str], definition: str) -> str:
    """The JSON of an object of these fields, in this order, of which the definition is spelled already."""
    names = list(fields)
    place = names.index("definition")
    before, after = ({name: fields[name] for name in some} for some in (names[:place], names[place + 1 :]))
    parts = [write(before)[1:-1], f'"definition":{definition}', write(after)[1:-1]]
    return "{" + ",".join(part for part in parts if part) + "}"


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
