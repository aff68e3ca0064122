"""The report of shadow mode: by what was chosen and by variant, how far both agree, what both cost and how long both took."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, Final

from outlast.domain.dataclass import dataclass
from outlast.domain.shadow import Verdict
from outlast.journal.history import read_history
from outlast.ports.run_rows import RunRow
from outlast.ports.store import Store
from outlast.service.periods import Period, rows_of
from outlast.service.shadow.pairs import Own, Pair, pairs_in

MOST_RUNS: Final = 5_000
"""How many runs of a period are looked at, the newest first."""

MOST_JOURNALS: Final = 500
"""Of how many of them with a shadow the journals are read, the newest first."""

MOST_EXAMPLES: Final = 5
"""How many steps that differ are shown of a variant, the newest first."""

_MOST_KEPT: Final = 2_000


@dataclass(slots=True)
class ShadowReports:
    """Reports over one store. What was read of a journal is kept until something is added to it."""

    store: Store
    _kept: dict[str, tuple[int, list[Pair]]] = field(default_factory=dict)

    async def of(self, period: Period) -> dict[str, Any]:
        """The report: a group for every selector and variant, those with the most comparisons first."""
        rows, _ = await rows_of(self.store, period, MOST_RUNS)
        chosen = [row for row in rows if _is_shadowed(row)]
        groups: dict[tuple[str, str], list[Pair]] = {}
        for row in chosen[:MOST_JOURNALS]:
            for pair in await self._pairs(row.run_id):
                groups.setdefault((pair.compared.selector, pair.compared.variant), []).append(pair)
        variants = [_group(selector, variant, pairs) for (selector, variant), pairs in groups.items()]
        variants.sort(key=lambda group: (-group["comparisons"], group["selector"], group["variant"]))
        tasks = sorted({row.task for row in chosen})
        return {
            "since": period.since.isoformat(),
            "runs": len(chosen),
            "tasks": tasks,
            "variants": variants,
        }

    async def _pairs(self, run_id: str) -> list[Pair]:
        head = await self.store.read_head(run_id)
        known = self._kept.get(run_id)
        if known is None or known[0] != head:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            known = head, pairs_in(run_id, await read_history(self.store, run_id))
            self._kept[run_id] = known
        return known[1]


def _is_shadowed(row: RunRow) -> bool:
    return json.loads(row.summary).get("is_shadowed") is True


def _group(selector: str, variant: str, pairs: Sequence[Pair]) -> dict[str, Any]:
    counts = Counter(pair.compared.verdict for pair in pairs)
    both = [
        (pair, pair.own)
        for pair in pairs
        if pair.own is not None and pair.compared.verdict in (Verdict.AGREED, Verdict.DIFFERED)
    ]
    overlaps = [pair.compared.overlap for pair, _ in both if pair.compared.overlap is not None]
    newest = max(pairs, key=lambda pair: pair.at)
    return {
        "selector": selector,
        "variant": variant,
        "settings": newest.settings,
        "last_at": newest.at,
        "comparisons": counts[Verdict.AGREED] + counts[Verdict.DIFFERED],
        "agreed": counts[Verdict.AGREED],
        "differed": counts[Verdict.DIFFERED],
        "failed": counts[Verdict.FAILED],
        "suppressed": counts[Verdict.SUPPRESSED],
        "uncompared": counts[Verdict.UNCOMPARED],
        "agreement": _share(counts[Verdict.AGREED], counts[Verdict.AGREED] + counts[Verdict.DIFFERED]),
        "overlap": round(sum(overlaps) / len(overlaps), 4) if overlaps else None,
        "measures": sorted({pair.compared.measure for pair, _ in both if pair.compared.measure}),
        "own": _used([own for _, own in both]),
        "shadow": _used([pair.compared for pair, _ in both]),
        "spent": _spent(pair.compared for pair in pairs),
        "reasons": _reasons(pairs),
        "examples": _examples(both),
    }


def _used(made: Sequence[Any]) -> dict[str, Any]:
    """What the steps of a side that were compared took together."""
    durations = sorted(one.duration_ms for one in made)
    return {**_spent(made), "p50_ms": percentile(durations, 50), "p95_ms": percentile(durations, 95)}


def _spent(made: Iterable[Any]) -> dict[str, Any]:
    """Tokens and cost together; the cost is None where none is known."""
    each = list(made)
    costs = [one.cost_usd for one in each if one.cost_usd is not None]
    return {
        "tokens": sum(one.tokens for one in each),
        "cost_usd": round(sum(costs), 6) if costs else None,
    }


def percentile(ordered: Sequence[int], percent: int) -> int | None:
    """The least of the numbers, in order, that so many percent of them do not exceed; None of none."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)] if ordered else None


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _reasons(pairs: Iterable[Pair]) -> list[dict[str, Any]]:
    """Why steps have no comparison, the most frequent first."""
    codes = Counter(
        pair.compared.code
        for pair in pairs
        if pair.compared.verdict not in (Verdict.AGREED, Verdict.DIFFERED) and pair.compared.code
    )
    return [{"code": code, "count": count} for code, count in codes.most_common()]


def _examples(both: Sequence[tuple[Pair, Own]]) -> list[dict[str, Any]]:
    differing = [one for one in both if one[0].compared.verdict is Verdict.DIFFERED]
    return [
        {
            "run_id": pair.run_id,
            "seq": own.seq,
            "shadow_seq": pair.seq,
            "step": own.what,
            "own": own.shown,
            "shadow": pair.shown,
            "overlap": pair.compared.overlap,
        }
        for pair, own in sorted(differing, key=lambda one: one[0].at, reverse=True)[:MOST_EXAMPLES]
    ]
