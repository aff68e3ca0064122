"""Showing what was recalled: each entry with where it is from and how to read more, all of it within a bound of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from outlast.domain.recalled import Recalled
from outlast.runs.words import squeezed

ENTRY_CHARACTERS: Final = 600
"""How much of one entry is shown."""

MOST_TOKENS: Final = 1600
"""How much of a context one recall takes at most."""

SHARE_OF_CONTEXT: Final = 10
"""A recall takes at most one part in so many of what a context may hold."""

HEADING: Final = (
    "What memory holds on this, the best first. It may be out of date; what is marked as outdated was corrected later. "
    "It is no source: to cite a page, read it again."
)


def recalled_text(entries: Sequence[Recalled]) -> str:
    """Entries as a model sees them, inside the fence."""
    return "\n\n".join(
        [HEADING, *(f"{number}. {_entry(one)}" for number, one in enumerate(entries, start=1))]
    )


def tokens_for(context_max_tokens: int) -> int:
    """How many tokens one recall may take in a context of so many."""
    return min(MOST_TOKENS, context_max_tokens // SHARE_OF_CONTEXT)


def fitted(
    entries: Sequence[Recalled], most: int, seen: str, count: Callable[[str], int], most_tokens: int
) -> tuple[list[Recalled], int]:
    """The first `most` entries that say something `seen` does not show yet, cut and within the tokens; and how many found no room."""
    known, kept, left_out = squeezed(seen), list[Recalled](), 0
    for entry in entries:
        text = squeezed(entry.text)
        if not text or text in known or any(text in squeezed(one.text) for one in kept):
            continue
        short = cut(entry)
        if len(kept) >= most or count(recalled_text([*kept, short])) > most_tokens:
            left_out += 1
        else:
            kept.append(short)
    return kept, left_out


def cut(entry: Recalled) -> Recalled:
    """An entry of bounded length, cut between two words."""
    if len(entry.text) <= ENTRY_CHARACTERS:
        return entry
    head = entry.text[:ENTRY_CHARACTERS]
    whole = head.rsplit(None, 1)[0]
    text = whole if len(whole) > ENTRY_CHARACTERS // 2 else head
    return replace(entry, text=text, is_cut=True)


def _entry(entry: Recalled) -> str:
    about = [f"[{'outdated ' if entry.is_outdated else ''}{entry.kind}]", entry.title]
    if entry.source and entry.source != entry.title:
        about.append(f"<{entry.source}>")
    if entry.topic:
        about.append(f"on: {entry.topic}")
    if entry.known_at:
        about.append(f"({entry.known_at[:10]})")
    more = f"\n[cut; more of it: recall with id {entry.id}]" if entry.is_cut else ""
    return f"{' '.join(word for word in about if word)}\n{entry.text}{more}"
