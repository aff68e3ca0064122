"""Requests to a gateway, with the patience that tests have; a library's own would give a busy server five seconds."""

from typing import Any

import httpx2

from tests.patience import PATIENCE_SECONDS


def get(url: str, **more: Any) -> httpx2.Response:
    """What is at an address."""
    return httpx2.get(url, timeout=PATIENCE_SECONDS, **more)


def post(url: str, **more: Any) -> httpx2.Response:
    """What an address answers to something sent."""
    return httpx2.post(url, timeout=PATIENCE_SECONDS, **more)
