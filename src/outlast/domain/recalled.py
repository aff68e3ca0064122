"""What memory brings back: entries as they were shown to a model, kept by the journal so that the same context can be made again."""

from __future__ import annotations

from typing import Final, Literal

from outlast.domain.dataclass import dataclass

QUERY_CHARACTERS: Final = 1000
"""How much of a question or of what a person says memory is asked with."""

Tier = Literal["run", "long_term"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """An entry of memory as it was shown.

    `tier` says whether it is of this very run or from before; `kind` is page, fact or conclusion; `text` is what was shown of
    it, cut when `is_cut`; `score` is higher for what fits better, from 0 to 1. `source` is an address, or who said it; `known_at`
    the ISO date it was read, said or concluded; `topic` the question it belongs to. What is `is_outdated` was superseded.
    """

    id: str
    tier: Tier
    kind: str
    text: str
    score: float = 0.0
    title: str = ""
    source: str = ""
    known_at: str = ""
    topic: str = ""
    run_id: str = ""
    is_outdated: bool = False
    is_cut: bool = False
