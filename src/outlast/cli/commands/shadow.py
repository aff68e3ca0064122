"""Report what shadow mode came to: how far variants agree with the steps beside which they ran."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import App, Parameter

from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config
from outlast.cli.phrases import counted, dollars
from outlast.cli.printing import document, note, one_line, out
from outlast.cli.tables import aligned
from outlast.domain.ages import age_in
from outlast.domain.door import canonical_json
from outlast.domain.ids import LOCAL_USER
from outlast.ports.store import Store
from outlast.service.periods import Period
from outlast.service.shadow.report import ShadowReports

app = App(name="shadow", help="Report how far variants agree with the steps beside which they ran.")

_HEAD = ("STEPS", "VARIANT", "COMPARED", "AGREE", "OVERLAP", "FAILED", "SUPPRESSED", "NOT COMPARED")
_COSTS = ("", "TOKENS", "COST", "P50 MS", "P95 MS")


@app.command
def report(
    *,
    task: Annotated[str | None, Parameter(help="Runs of this task only.")] = None,
    since: Annotated[str, Parameter(help="How far back runs began: 7d, 12h, 30d.")] = "7d",
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Compare agreement, cost and time of variants with those of the steps beside which they ran."""
    age = age_in(since)

    async def reported(store: Store) -> dict[str, Any]:
        return await ShadowReports(store).of(Period(LOCAL_USER, await store.now() - age, task))

    found = with_store(config, reported)
    if json:
        document(found)
    elif found["variants"]:
        out("\n".join(_lines(found["variants"])))
    else:
        _tell_nothing(found["runs"])
    return Exit.DONE


def _tell_nothing(runs: int) -> None:
    if runs:
        note(f"{counted(runs, 'run')} with a shadow, and no step that it chose was made.")
    else:
        note("No run with a shadow began in this time. Set shadow.steps and shadow.variant to have one.")


def _lines(variants: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            one["selector"],
            one["variant"],
            str(one["comparisons"]),
            _percent(one["agreement"]),
            _percent(one["overlap"]),
            *(str(one[name]) for name in ("failed", "suppressed", "uncompared")),
        )
        for one in variants
    ]
    return [*aligned(rows, _HEAD), *(line for one in variants for line in _closer(one))]


def _closer(one: dict[str, Any]) -> list[str]:
    """One variant: its settings, what both sides used, why steps have no comparison, and steps that differ."""
    lines = ["", f"{one['selector']} with {one_line(canonical_json(one['settings']))}"]
    if one["comparisons"]:
        sides = [("the run", one["own"]), ("the variant", one["shadow"])]
        lines += aligned([_side(name, used) for name, used in sides], _COSTS)
    lines += [f"  {reason['code']}: {reason['count']}" for reason in one["reasons"]]
    for example in one["examples"]:
        lines += [
            f"  {example['run_id']} {example['seq']} {one_line(example['step'])}: {_percent(example['overlap'])} in common",
            f"    run:     {one_line(example['own'])}",
            f"    variant: {one_line(example['shadow'])}",
        ]
    return lines


def _side(name: str, used: dict[str, Any]) -> tuple[str, ...]:
    cost = "-" if used["cost_usd"] is None else dollars(used["cost_usd"])
    return (name, str(used["tokens"]), cost, str(used["p50_ms"]), str(used["p95_ms"]))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
