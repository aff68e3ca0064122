"""Shadow mode from the command line: set it up, run, read the report."""

from typing import Any

from tests.e2e.command_line import Home
from tests.law import law

QUESTION = "How do tidal lagoons compare with offshore wind on cost and reliability?"
RUN = ("run", "--task", "brief", "--input", QUESTION, "--json")
SHADOW = ("--set", "shadow.steps=['tool:web_search', 'role:writer']", "--set")


def _settled(report: dict[str, Any]) -> dict[str, Any]:
    """A report without times and step numbers."""
    for source in report["sources"]:
        del source["fetched_at"], source["step"], source["found_by"]["step"]
    for section in report["sections"]:
        for claim in section["claims"]:
            del claim["steps"]
    return report


@law("SEE-4.c", "SEE-4.d")
def test_a_shadow_changes_no_report_and_is_told_of_in_its_own(library: Home) -> None:
    alone = library.here(*RUN, "--set", "memory.enabled=false").document
    nothing = library.here("shadow", "report")
    assert (nothing.code, nothing.out) == (0, "")
    assert "Set shadow.steps and shadow.variant" in nothing.err
    library.write("other/wind.md", "# Wind\n\nOffshore wind costs less than it did.\n")
    ended = library.here(*RUN, "--set", "memory.enabled=false", *SHADOW, "shadow.variant.search.path=other")
    assert ended.code == 0, ended.err
    assert ended.document["steps"] == alone["steps"]
    assert _settled(ended.document["report"]) == _settled(alone["report"])
    found = library.here("shadow", "report", "--json").document
    groups = {group["selector"]: group for group in found["variants"]}
    assert groups["role:writer"]["agreement"] == 1.0
    assert groups["tool:web_search"]["agreement"] == 0.0
    assert groups["tool:web_search"]["settings"] == {"search": {"path": "other"}}
    shown = library.here("shadow", "report", "--task", "brief", "--since", "1h").out
    assert "tool:web_search with" in shown
    assert ended.document["run_id"] in shown
    assert library.here("shadow", "report", "--task", "another").out == ""
    trace = library.here("trace", ended.document["run_id"]).out
    assert "(role:writer) agrees" in trace
    assert library.here("db", "check").code == 0


def test_a_shadow_that_lacks_something_says_so_and_the_run_is_none_the_worse(library: Home) -> None:
    ended = library.here(*RUN, *SHADOW, "shadow.variant.search.provider=searxng")
    assert ended.code == 0, ended.err
    assert "The shadow will compare nothing, since its variant lacks something" in ended.err
    wrong = library.here(*RUN, "--set", "shadow.steps=['webs']")
    assert (wrong.code, "shadow.steps.0: it chooses no step; write one of" in wrong.err) == (2, True)
