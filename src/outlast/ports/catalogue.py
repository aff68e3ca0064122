"""The seam to what is publicly known of models: prices and windows."""

from __future__ import annotations

from typing import Protocol

from outlast.domain.dataclass import dataclass
from outlast.domain.task import Price


@dataclass(frozen=True, slots=True)
class KnownModel:
    """What is known of a model at an address; None where it is not. `window_tokens` is how much it reads at once."""

    price: Price | None = None
    window_tokens: int | None = None


class FindModel(Protocol):
    """Looks a model up, without a network."""

    def __call__(self, base_url: str, model: str) -> KnownModel | None:
        """What is known of a model as it is served at `base_url`; None for an address or a model nobody knows."""
        ...
