"""Performing a recall: the tiers in order, fitted into the context. Whatever goes wrong is told in the journal and ends no turn."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from outlast.domain.door import clean_text, in_words
from outlast.domain.errors import OutlastError
from outlast.domain.events import MemoryRecalled, RecallFailed, RecallRequested
from outlast.domain.message import Message
from outlast.domain.recalled import Recalled
from outlast.domain.run import Branch, RunState
from outlast.runs.contained import within
from outlast.runs.desk import Desk, Outcome
from outlast.runs.recall.long_term import long_term
from outlast.runs.recall.short_term import short_term
from outlast.runs.recall.showing import fitted, tokens_for

RECALL_SECONDS: Final = 5.0
"""How long a model waits for memory; it then speaks without it."""

SPARE: Final = 2
LEAST_ASKED: Final = 8
"""Of long-term memory twice as many entries are asked for as are shown, and for no fewer: some are shown already."""

_log = logging.getLogger("outlast.memory")


async def perform_recall(
    desk: Desk, state: RunState, intent: RecallRequested, context: Sequence[Message]
) -> Outcome:
    """Ask memory, and turn what comes into an event. Entries that the context shows already are left out."""
    started = desk.seconds()
    try:
        entries, left_out = await within(_recalled(desk, state, intent, context), RECALL_SECONDS)
    except TimeoutError:
        detail = f"Memory did not answer within {RECALL_SECONDS:g} seconds."
        return Outcome([_failed(desk, intent, "recall_slow", detail, started)])
    except OutlastError as error:
        return Outcome([_failed(desk, intent, error.code, error.detail, started)])
    except Exception as error:  # noqa: BLE001 - whatever fails in memory, the model speaks without it
        _log.exception("recall failed")
        return Outcome([_failed(desk, intent, "recall_failed", in_words(error), started)])
    recalled = MemoryRecalled(
        intent.recall, intent.branch, intent.query, tuple(entries), left_out, _ms(desk, started)
    )
    return Outcome([recalled])


async def _recalled(
    desk: Desk, state: RunState, intent: RecallRequested, context: Sequence[Message]
) -> tuple[list[Recalled], int]:
    branch = state.branches[intent.branch]
    found = await found_for(desk, state, branch, intent.query)
    provider = desk.means.provider(branch.role)

    def count(text: str) -> int:
        return provider.count_tokens((Message("user", text),), ())

    seen = "\n".join(message.text for message in context)
    definition = state.definition
    return fitted(found, definition.recall_top_k, seen, count, tokens_for(definition.context_max_tokens))


async def found_for(desk: Desk, state: RunState, branch: Branch, query: str) -> list[Recalled]:
    """What the tiers hold on a query for a conversation, in their order."""
    found = await short_term(desk, state, branch, query)
    if desk.means.memory is not None:
        most = SPARE * max(state.definition.recall_top_k, LEAST_ASKED)
        found += await long_term(desk.means.memory, state, branch, query, desk.now(), most)
    return found


def _failed(desk: Desk, intent: RecallRequested, code: str, detail: str, started: float) -> RecallFailed:
    return RecallFailed(intent.recall, intent.branch, code, clean_text(detail)[:2000], _ms(desk, started))


def _ms(desk: Desk, started: float) -> int:
    return round((desk.seconds() - started) * 1000)
