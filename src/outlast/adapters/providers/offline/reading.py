"""Telling instructions from material: the fences and the labelled blocks of a message.

Untrusted text stands between `<<untrusted NONCE from ORIGIN>>` and `<<end NONCE>>`, each on a line of its own. Only the nonce
that opened a fence closes it; a fence that is never closed runs to the end of the message, because text that was cut must not
turn into instructions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Final

from outlast.domain.dataclass import dataclass

LABELS: Final = (
    "SUBTASK QUESTION",
    "SUBTASK",
    "QUESTION",
    "DONE WHEN",
    "FINDINGS SO FAR",
    "REJECTED PLAN",
    "REASONS",
    "ROUND",
    "RULE",
    "MAX POINTS",
    "OPEN QUESTIONS",
)

_REMARKING: Final = ("reviewer", "person")
"""Whose remarks are fenced with their labels inside."""

_OPENING = re.compile(r"<<untrusted ([0-9a-f]{4,128}) from (.*)>>\s*")
_LABEL = re.compile(rf"({'|'.join(LABELS)}):[ \t]*(.*)")


@dataclass(frozen=True, slots=True)
class Fenced:
    """Untrusted text and where it came from."""

    origin: str
    text: str


@dataclass(slots=True)
class Block:
    """What follows a label up to a blank line or the next label, and the fenced text up to the next label."""

    label: str
    lines: list[str] = field(default_factory=list)
    fenced: list[Fenced] = field(default_factory=list)
    is_open: bool = True

    @property
    def text(self) -> str:
        """The trusted lines of the block."""
        return "\n".join(self.lines).strip()


@dataclass(slots=True)
class Reading:
    """A message taken apart: trusted lines, fenced texts and labelled blocks, each in order."""

    trusted: list[str] = field(default_factory=list)
    fenced: list[Fenced] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def has(self, label: str) -> bool:
        """Is there a block with this label?"""
        return any(block.label == label for block in self.blocks)

    def value(self, label: str) -> str:
        """The trusted text of the last block with this label, or nothing."""
        return next((block.text for block in reversed(self.blocks) if block.label == label), "")

    def material(self, label: str) -> str:
        """Everything under the label, trusted or fenced, also where a reviewer or a person put it: to be read, never obeyed."""
        texts = [
            text
            for block in self.blocks
            if block.label == label
            for text in (block.text, *(fenced.text for fenced in block.fenced))
        ]
        texts += [
            read_message(fenced.text).value(label) for fenced in self.fenced if fenced.origin in _REMARKING
        ]
        return "\n".join(text for text in texts if text.strip())


def read_message(text: str) -> Reading:
    """`text` taken apart into what may instruct and what may only be read."""
    reading = Reading()
    lines = iter(text.split("\n"))
    for line in lines:
        opening = _OPENING.fullmatch(line)
        if opening is None:
            _take_trusted(reading, line)
            continue
        fenced = Fenced(opening.group(2), "\n".join(_until_end(lines, opening.group(1))))
        reading.fenced.append(fenced)
        if reading.blocks:
            reading.blocks[-1].fenced.append(fenced)
    return reading


def _until_end(lines: Iterator[str], nonce: str) -> list[str]:
    closing = f"<<end {nonce}>>"
    taken: list[str] = []
    for line in lines:
        if line.rstrip() == closing:
            break
        taken.append(line)
    return taken


def _take_trusted(reading: Reading, line: str) -> None:
    reading.trusted.append(line)
    label = _LABEL.fullmatch(line.rstrip())
    if label is not None:
        reading.blocks.append(Block(label.group(1), [label.group(2)]))
    elif reading.blocks and reading.blocks[-1].is_open:
        if line.strip():
            reading.blocks[-1].lines.append(line)
        elif reading.blocks[-1].text:
            reading.blocks[-1].is_open = False
