"""The seam to whoever is told of troubles that need an operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Alarm(Protocol):
    """Tells one person or system."""

    async def send(self, told: Mapping[str, Any], deadline_seconds: float) -> str | None:
        """Tell it; what went wrong, in words without secrets, or None. Never raises for what the other side does."""
        ...
