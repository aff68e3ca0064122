"""Checking what an executor concluded: sources must be in the ledger, quotes must stand in their text."""

from __future__ import annotations

from outlast.domain.door import Json
from outlast.runs.desk import Desk
from outlast.runs.forms import text_in, texts_in
from outlast.runs.ledger import Entry, is_quoted


async def checked_conclusions(desk: Desk, value: Json, branch: str) -> Json:
    """An answer of conclusions with its sources resolved to ledger keys, each marked as supported or not.

    Sources that were never read are dropped. The source a quote stands in comes first; a quote that stands in none is dropped.
    """
    listed = value.get("conclusions") if isinstance(value, dict) else None
    conclusions: list[Json] = [
        await _checked(desk, item, branch)
        for item in (listed if isinstance(listed, list) else [])
        if isinstance(item, dict)
    ]
    return {"conclusions": conclusions, "open_questions": [*texts_in(value, "open_questions")]}


async def _checked(desk: Desk, item: dict[str, Json], branch: str) -> Json:
    found = {name: desk.ledger.entry(name, branch) for name in texts_in(item, "sources")}
    entries = {entry.source.key: entry for entry in found.values() if entry is not None}
    quote = text_in(item, "quote")
    home = await _home_of(desk, quote, entries)
    keys = sorted(entries, key=lambda key: key != home)
    sources: list[Json] = [*keys]
    return {
        "claim": text_in(item, "claim"),
        "sources": sources,
        "quote": quote if home is not None else "",
        "confidence": item.get("confidence", 0.5),
        "is_supported": home is not None or (bool(entries) and not quote),
    }


async def _home_of(desk: Desk, quote: str, entries: dict[str, Entry]) -> str | None:
    """The key of the first source whose text holds the quote."""
    for key, entry in entries.items():
        text = await desk.text(entry.source.text_digest)
        if text is not None and is_quoted(quote, text):
            return key
    return None
