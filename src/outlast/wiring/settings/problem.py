"""What is wrong with a document, told so that a stranger can mend it: all problems at once, each with its place."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a value was written: a file and its line (from 1), or an option such as `--set a.b=1` (line 0)."""

    source: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong. `key` is the full dotted path, `detail` says what is wrong and what to write instead."""

    place: Place
    key: str
    detail: str
    code: str = "invalid_settings"

    def __str__(self) -> str:
        return f"{self.place}: {self.key}: {self.detail}" if self.key else f"{self.place}: {self.detail}"


def mistake_of(problems: Iterable[Problem], next_step: str) -> CallerMistake:
    """One CallerMistake that tells all of `problems` (at least one), in the order of their places."""
    found = sorted(set(problems))
    lines = [str(problem) for problem in found]
    detail = lines[0] if len(lines) == 1 else "\n  ".join([f"There are {len(lines)} problems:", *lines])
    return CallerMistake(found[0].code, detail if detail.endswith(("?", ".")) else f"{detail}.", next_step)


def nearest(word: str, options: Iterable[str]) -> str | None:
    """The option that `word` was probably meant to be, if one is near."""
    by_spelling = {option.casefold(): option for option in options}
    word = word.casefold()
    found = difflib.get_close_matches(word, by_spelling, n=1, cutoff=0.6)
    begun = [option for option in by_spelling if len(word) > 2 and option.startswith(word)]
    return next((by_spelling[option] for option in found + begun), None)


def listed(words: Sequence[str], limit: int = 12) -> str:
    """`a, b and c`; of many, the first `limit` and how many more."""
    if len(words) > limit:
        return f"{', '.join(words[:limit])} and {len(words) - limit} more"
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def shown_path(path: Path) -> str:
    """The path as a person would write it: relative to the working directory where it lies below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
