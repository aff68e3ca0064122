"""A relay: the commit that gives a run back takes the next one, which saves a look, a claim and the sync of a claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from outlast.ports.queue import Claim, ClaimDue


class Relay(Protocol):
    """Who takes the next run when one is given back."""

    def wish(self) -> ClaimDue | None:
        """What to claim in the commit that gives a run back; None where nothing more is wanted or known to be due."""
        ...

    def take(self, claims: Sequence[Claim], claimed_at: float) -> None:
        """Go on with what came of a wish of when `claimed_at` seconds had elapsed; nothing did where nothing is due any more."""
        ...
