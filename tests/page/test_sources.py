"""The page that is shipped is the page in `web/`, and that one holds to its own rules."""

import gzip
import re
from pathlib import Path

from outlast.gateway.description import written
from tests.page.building import ROOT, SHIPPED, build, npm

MOST_FIRST_VIEW_BYTES = 250_000
"""How much JavaScript the first view may load, gzipped."""


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_the_interface_is_described_as_it_is() -> None:
    kept = (ROOT / "docs/reference/openapi.json").read_text("utf-8")
    assert kept == written(), (
        "docs/reference/openapi.json is behind the gateway: `just docs`, then `just page`"
    )


def test_sources_of_the_page_are_clean_and_fit_the_interface() -> None:
    npm("run", "--silent", "check")


def test_units_of_the_page() -> None:
    npm("run", "--silent", "test")


def test_what_is_shipped_is_what_the_sources_say(tmp_path: Path) -> None:
    build(tmp_path)
    made, shipped = _files(tmp_path), _files(SHIPPED)
    assert sorted(made) == sorted(shipped), "the shipped page is behind web/: `just page`"
    assert all(made[name] == shipped[name] for name in made), "the shipped page is behind web/: `just page`"


def test_the_first_view_stays_light() -> None:
    index = (SHIPPED / "index.html").read_text("utf-8")
    scripts = re.findall(r'(?:src|href)="/(assets/[^"]+\.js)"', index)
    assert scripts
    weight = sum(len(gzip.compress((SHIPPED / name).read_bytes())) for name in scripts)
    assert weight <= MOST_FIRST_VIEW_BYTES
