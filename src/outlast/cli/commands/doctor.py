"""Say what is wrong with this environment, or why a run is not moving."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from cyclopts import App, Parameter

from outlast.cli.diagnosis import diagnose
from outlast.cli.examination import Finding, examine
from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config
from outlast.cli.printing import document, out
from outlast.cli.tables import aligned

app = App(name="doctor")

_MARKS: Final = {"ok": "ok", "warning": "WARN", "error": "FAIL"}


@app.default
def doctor(
    run: Annotated[str | None, Parameter(help="A run: say why it is not moving.")] = None,
    /,
    *,
    llm: Annotated[
        bool,
        Parameter(
            help="Ask every model three small things, and say what it can do. This may cost something."
        ),
    ] = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Say what is wrong with this environment (exit 1 if anything is), or with RUN, why that run is not moving."""
    return (
        _environment(config, as_json=json, asks_models=llm)
        if run is None
        else _run(run, config, as_json=json)
    )


def _environment(config: str | None, *, as_json: bool, asks_models: bool) -> Exit:
    found = asyncio.run(_all(config, asks_models))
    if as_json:
        document({"checks": [finding.as_document() for finding in found]})
    else:
        for finding in found:
            out(f"{_MARKS[finding.status]:<5} {finding.name:<14} {finding.detail}")
            if finding.next and finding.status != "ok":
                out(f"{'':<20} next: {finding.next}")
    return Exit.FAILED if any(finding.status == "error" for finding in found) else Exit.DONE


async def _all(config: str | None, asks_models: bool) -> list[Finding]:
    return [finding async for finding in examine(config, asks_models=asks_models)]


def _run(run: str, config: str | None, *, as_json: bool) -> Exit:
    facts = with_store(config, lambda store: diagnose(store, run))
    if as_json:
        document(facts)
        return Exit.DONE
    names = ("state", "holder", "holder_is", "lease_until", "due_at", "note")
    rows = [(name.replace("_", " "), str(facts[name])) for name in names if facts[name]]
    rows += [("waits for", item) for item in facts["waits_for"]]
    out("\n".join(aligned([*rows, ("why", facts["why"]), ("next", facts["next"])])))
    return Exit.DONE
