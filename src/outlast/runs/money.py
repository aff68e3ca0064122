"""What model calls cost: what the endpoint states, else the price the run is pinned to; and what is set aside for one."""

from __future__ import annotations

from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import ModelCallFailed
from outlast.domain.message import Usage
from outlast.domain.run import Branch, RunState
from outlast.domain.task import ModelSettings, Price

DEFAULT_ANSWER_TOKENS: Final = 1024
"""What is reserved for an answer where the model has no bound."""


@dataclass(slots=True)
class Spending:
    """What model calls made by a tool have used up."""

    tokens: int = 0
    usd: float = 0.0


def model_asked(state: RunState, branch: Branch) -> ModelSettings:
    """The model a branch asks next."""
    return state.definition.role(branch.role).option(branch.option)


def reserve_for(model: ModelSettings, input_tokens: int) -> tuple[int, float]:
    """The tokens and US dollars set aside for a call of a model that sends so many tokens."""
    answer = model.max_tokens or DEFAULT_ANSWER_TOKENS
    return input_tokens + answer, model.price.of(input_tokens, answer) if model.price else 0.0


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """What a call cost in US dollars; None where neither the endpoint nor a price tells."""
    if usage.cost_usd is not None or price is None:
        return usage.cost_usd
    return price.of(usage.input_tokens, usage.output_tokens)


def cost_of_failure(failure: ModelCallFailed, price: Price | None) -> float:
    """What a failed call cost in US dollars, as far as it is known."""
    if failure.spent_usd is not None or price is None:
        return failure.spent_usd or 0.0
    return price.of(failure.spent_tokens - failure.spent_output_tokens, failure.spent_output_tokens)
