"""A journal in a file: a line that says what it folds to, then its events and payloads as a store holds them, a line each."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from outlast.domain.run import RunState
from outlast.journal.codec import payloads_named_in
from outlast.journal.snapshot import state_digest
from outlast.ports.store import Store
from outlast.ports.stream import EventRow

FOLDER = Path(__file__).parent / "journals"


@dataclass(frozen=True)
class Book:
    """A run's journal as it was written, and what was known of the run then."""

    known: dict[str, Any]
    rows: list[EventRow]
    payloads: dict[str, bytes]


def known_of(state: RunState) -> dict[str, Any]:
    """What a journal must fold to, whatever becomes of the program."""
    return {
        "run_id": state.run_id,
        "digest": state_digest(state),
        "position": state.position,
        "state": str(state.state),
        "outcome": state.outcome,
        "steps": state.counters.steps,
        "tokens": state.counters.tokens,
        "replans": state.counters.replans,
        "plan": [[item.subtask.id, str(item.progress)] for item in state.plan],
        "report_digest": state.report_digest,
        "open_calls": sorted(state.calls),
        "values": state.values,
    }


async def bound_in(store: Store, state: RunState) -> Book:
    """The journal of a run in a store."""
    rows = await store.read_events(state.run_id)
    digests = [digest for row in rows for digest in payloads_named_in(row.body)]
    return Book(known_of(state), rows, await store.read_payloads(digests))


def write(name: str, book: Book) -> Path:
    """Write a journal under a name that is not taken. Raises FileExistsError: what was released is kept as it is."""
    path = FOLDER / f"{name}.jsonl"
    lines = [book.known, *map(_event_line, book.rows), *map(_payload_line, sorted(book.payloads.items()))]
    with path.open("x", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return path


def read(path: Path) -> Book:
    """A journal that was written once."""
    known, *lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    rows = [_row(line) for line in lines if "kind" in line]
    payloads = {line["payload"]: base64.b64decode(line["content"]) for line in lines if "payload" in line}
    return Book(known, rows, payloads)


def paths() -> Sequence[Path]:
    """Every journal there is."""
    return sorted(FOLDER.glob("*.jsonl"))


def _event_line(row: EventRow) -> dict[str, Any]:
    at = row.at.isoformat()
    return {"position": row.position, "kind": row.kind, "version": row.version, "at": at, "body": row.body}


def _payload_line(payload: tuple[str, bytes]) -> dict[str, Any]:
    return {"payload": payload[0], "content": base64.b64encode(payload[1]).decode()}


def _row(line: Mapping[str, Any]) -> EventRow:
    at = datetime.fromisoformat(line["at"])
    return EventRow(line["position"], line["kind"], line["version"], at, line["body"])
