"""Writes the OpenAPI document to a file: `python -m outlast.gateway.description docs/reference/openapi.json`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from outlast.gateway.app import describe


def written() -> str:
    """The document as it is kept: its version left out, for it changes without the interface."""
    document = describe()
    document["info"]["version"] = "0"
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(written(), "utf-8")
