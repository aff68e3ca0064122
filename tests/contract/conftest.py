"""Contracts live in the package; their assertions are shown in full here."""

import pytest

pytest.register_assert_rewrite("outlast.testing.contracts")
