"""Shadow mode: which steps of a run are also made the way of a variant, and what that can come to."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, get_args

from outlast.domain.dataclass import dataclass
from outlast.domain.tool_names import EVERY, may_be_of, model_name, split_name

SelectorKind = Literal["tool", "role", "prompt", "model", "config"]

FORMS: Final = "tool:NAME, role:NAME, prompt:ROLE, model, model:NAME or config"
"""How steps are chosen, in words."""

_KINDS: Final[tuple[SelectorKind, ...]] = get_args(SelectorKind)
_UNNAMED: Final = frozenset({"model", "config"})
"""Kinds that mean every step of theirs where they are written without a name."""


class Verdict(StrEnum):
    """What the variant of a step came to, beside the step.

    `AGREED` and `DIFFERED` where both have a result. `FAILED`: the variant has none. `SUPPRESSED`: the variant would have had an
    effect, so it was not carried out. `UNCOMPARED`: one of the two came to nothing that could be compared.
    """

    AGREED = "agreed"
    DIFFERED = "differed"
    FAILED = "failed"
    SUPPRESSED = "suppressed"
    UNCOMPARED = "uncompared"


@dataclass(frozen=True, slots=True)
class Selector:
    """Chooses steps: the calls of a tool, of the models of a role, of a model by its name, or with `config` all of them.

    `prompt` chooses as `role` does; of the variant it takes nothing but the role's prompt.
    """

    kind: SelectorKind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind

    def takes_tool(self, tool: str) -> bool:
        """Does it choose the calls of this tool, as models know it?"""
        if self.kind != "tool":
            return self.kind == "config"
        split = split_name(self.name)
        if split is None:
            return self.name == tool
        return may_be_of(split[0], tool) if split[1] == EVERY else model_name(*split) == tool

    def takes_model(self, role: str, model: str) -> bool:
        """Does it choose the calls of this model in this role?"""
        match self.kind:
            case "role" | "prompt":
                return self.name == role
            case "model":
                return self.name in ("", model)
            case "config":
                return True
            case "tool":
                return False


def selector_in(text: str) -> Selector | None:
    """The selector that is written so; None where it has none of the FORMS."""
    written, colon, name = text.partition(":")
    kind = next((known for known in _KINDS if known == written), None)
    if kind is None or bool(colon) != bool(name) or (name and kind == "config"):
        return None
    return Selector(kind, name) if name or kind in _UNNAMED else None
