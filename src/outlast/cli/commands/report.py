"""Print the report of a run as Markdown, JSON or HTML."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import App, Parameter

from outlast.cli.exits import Exit
from outlast.cli.opening import with_store
from outlast.cli.options import AsJson, Config, RunId
from outlast.cli.printing import document, out
from outlast.cli.results import print_markdown
from outlast.domain.ids import LOCAL_USER
from outlast.service.reports.document import to_document
from outlast.service.reports.html import to_html
from outlast.service.reports.markdown import to_markdown
from outlast.service.show import run_report

app = App(name="report")

Format = Annotated[Literal["md", "json", "html"], Parameter(name="--format", help="The form of the report.")]


@app.default
def report(
    run: RunId,
    /,
    *,
    format: Format = "md",  # noqa: A002 - the pinned name
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Print the report of a run. --json is --format json."""
    made = with_store(config, lambda store: run_report(store, run, LOCAL_USER))
    if json or format == "json":
        document(to_document(made))
    elif format == "html":
        out(to_html(made))
    else:
        print_markdown(to_markdown(made))
    return Exit.DONE
