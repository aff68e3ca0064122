"""Takes secrets out of texts before they are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

HIDDEN: Final = "[secret]"

_SHORTEST: Final = 6
_TOKEN_LIKE: Final = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abp]|AKIA|AIza)[-_]?[A-Za-z0-9_-]{16,}"
    r"|\bBearer\s+[A-Za-z0-9._~+/-]{16,}=*"
)


class Hiding:
    """Knows the secrets of a configuration, as they are and as JSON spells them, and what tokens of well-known services look like."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        long = [value for value in secrets if len(value) >= _SHORTEST]
        spelled = {*long, *(json.dumps(value)[1:-1] for value in long)}
        values = sorted(spelled | {json.dumps(value, ensure_ascii=False)[1:-1] for value in long}, key=len)
        self._known = re.compile("|".join(map(re.escape, reversed(values)))) if values else None

    def __call__(self, text: str) -> str:
        """The text with every secret replaced by one word."""
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        return _TOKEN_LIKE.sub(HIDDEN, text)
