"""What the model of a role is told when it is asked for a summary of its own earlier steps."""

from __future__ import annotations

from typing import Final

SUMMARISER: Final = (
    "You keep the notes of a long piece of work. Below are its earlier steps, and the notes so far where there are some. Write "
    "the notes anew, so that the work can go on from them alone: the goal, what was decided and done (name what failed, too), "
    "facts with the keys of the sources they came from, questions that are open, digests of stored results. Keep names, "
    "numbers, dates and identifiers as they are, and the language they are in. Leave out what is of no more use. Answer with "
    'JSON only: {"goal": "...", "decisions": ["..."], "facts": [{"claim": "...", "sources": ["s-..."], "quote": "..."}], '
    '"open_questions": ["..."], "artifacts": ["..."]}'
)


def summary_opening(request: str, words: int) -> str:
    """What it is asked; the earlier steps follow as material."""
    return f"REQUEST: {request}\n\nWrite the notes in at most {words} words. The earlier steps follow."
