"""Values checked by JSON Schema, for the doors, which do not know adapters."""

from __future__ import annotations

from collections.abc import Mapping

from outlast.adapters.execution import validation
from outlast.domain.door import Json


def problems_in(schema: Mapping[str, Json], value: Json) -> list[str]:
    """What is wrong with a value; empty when nothing is."""
    return validation.problems_in(schema, value)
