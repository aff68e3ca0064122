"""`@law("RUN-3.a")` ties a test to the requirement clauses it proves (see docs/laws.toml)."""

import pytest


def law(*clause_ids: str) -> pytest.MarkDecorator:
    """Mark a test as the proof of one or more clauses, by their ids in docs/laws.toml.

    The ids are read from the source, so write them as plain strings.
    """
    return pytest.mark.law(*clause_ids)
