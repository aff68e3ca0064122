"""A tool can be called without a run around it."""

from pathlib import Path

import pytest

from outlast.testing import tool_context
from outlast.testing.contracts.tool import ToolSubject
from outlast.tools import tool


@tool(effect="read")
async def double(number: int, times: int = 2) -> int:
    """Multiply a number."""
    return number * times


async def test_artifacts_are_kept_by_their_digest(tmp_path: Path) -> None:
    artifacts = tool_context(tmp_path).artifacts
    assert await artifacts.get(await artifacts.put("text")) == b"text"
    assert await artifacts.get("0" * 64) is None


def test_subject_has_its_defaults_filled_in(tmp_path: Path) -> None:
    assert ToolSubject.of(double, {"number": 2}, tool_context(tmp_path)).arguments == {
        "number": 2,
        "times": 2,
    }


def test_arguments_that_do_not_fit_are_refused_with_the_field(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="number: expected"):
        ToolSubject.of(double, {}, tool_context(tmp_path))
