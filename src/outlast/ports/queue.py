"""What must happen later: entries with a due time, claimed under a lease with a generation, a new one for every claim."""

from __future__ import annotations

from datetime import datetime

from outlast.domain.dataclass import dataclass
from outlast.domain.quick import quick


@dataclass(frozen=True, slots=True)
class Enqueue:
    """Make the entry (`queue`, `item`) due at `due_at`: insert it with `generation`, or bring its due time forward. Never touches a
    lease, never puts a due time off; without a due time it only sees to it that there is an entry. No guard."""

    queue: str
    item: str
    due_at: datetime | None
    user_id: str
    label: str = ""
    generation: int = 0


@quick
@dataclass(frozen=True, slots=True)
class Release:
    """Give a lease back and set when the entry is due again (None: not until an Enqueue). Guard `GENERATION`. An Enqueue since the
    claim is not lost: the earlier of both due times holds. A quiet one wakes nobody: it is due so late that whoever looks now and
    then finds it in time."""

    queue: str
    item: str
    generation: int
    due_at: datetime | None
    note: str = ""
    is_quiet: bool = False


@quick
@dataclass(frozen=True, slots=True)
class Claim:
    """A lease: the right to act on an entry until `until`, for as long as its generation is `generation`.

    `store_now` is the store's time of the claim. `attempts` counts claims in a row that were never released.
    """

    queue: str
    item: str
    generation: int
    until: datetime
    store_now: datetime
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Shares:
    """How live leases are shared out when due entries are claimed: no user has more than `per_user` of a queue, no label more than
    `per_label` (None: as many as there are), and whoever has fewest is served first."""

    per_user: int | None = None
    per_label: int | None = None


@dataclass(frozen=True, slots=True)
class ClaimDue:
    """When the rest of the batch is written, take leases on due entries as `Store.claim` does, in the same commit: whoever has done
    with one entry takes the next. No guard: where nothing is due nothing is taken, and a batch that is refused takes nothing."""

    queue: str
    holder: str
    lease_seconds: float
    limit: int = 1
    reader: int = 1
    shares: Shares = Shares()


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """An entry as it stands. `holder` is the text the last claimer gave; `until` is None when no lease is held."""

    queue: str
    item: str
    due_at: datetime | None
    generation: int
    holder: str | None
    until: datetime | None
    note: str = ""
