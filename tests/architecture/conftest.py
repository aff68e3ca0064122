"""The trees of all code, parsed once for these tests and given up after them."""

from collections.abc import Iterator

import pytest

from tests.architecture.source import modules_below


@pytest.fixture(scope="package", autouse=True)
def trees() -> Iterator[None]:
    """Give up what was read: other tests need the memory."""
    yield
    modules_below.cache_clear()
