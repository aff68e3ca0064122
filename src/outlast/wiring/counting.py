"""How tokens are counted without a provider: for readings that are made to be looked at, not to be sent."""

from __future__ import annotations

from outlast.adapters.providers.tokens import estimate_request_tokens

count_tokens = estimate_request_tokens
"""The estimate that every built-in provider makes."""
