"""What shadow mode came to."""

from __future__ import annotations

from pydantic import JsonValue

from outlast.gateway.shapes.shape import Shape


class ShadowSpent(Shape):
    """Tokens and cost together; the cost is null where none is known."""

    tokens: int
    cost_usd: float | None


class ShadowSide(ShadowSpent):
    """What one side took for the steps that were compared: the median and the 95th percentile of the time of a step."""

    p50_ms: int | None
    p95_ms: int | None


class ShadowReason(Shape):
    """How often steps have no comparison for one reason."""

    code: str
    count: int


class ShadowExample(Shape):
    """A step whose results differ: `seq` is the position of its own result, `shadow_seq` of the comparison."""

    run_id: str
    seq: int
    shadow_seq: int
    step: str
    own: str
    shadow: str
    overlap: float | None


class ShadowVariant(Shape):
    """What one selector chose, compared with one variant. `agreement` and `overlap` are from 0 to 1, null where nothing was compared.

    `own` and `shadow` are of the steps that were compared, `spent` is all the variant used.
    """

    selector: str
    variant: str
    settings: dict[str, JsonValue]
    last_at: str
    comparisons: int
    agreed: int
    differed: int
    failed: int
    suppressed: int
    uncompared: int
    agreement: float | None
    overlap: float | None
    measures: list[str]
    own: ShadowSide
    shadow: ShadowSide
    spent: ShadowSpent
    reasons: list[ShadowReason]
    examples: list[ShadowExample]


class ShadowDocument(Shape):
    """The comparisons of the runs with a shadow that began in a period, and the tasks of those runs."""

    since: str
    runs: int
    tasks: list[str]
    variants: list[ShadowVariant]
