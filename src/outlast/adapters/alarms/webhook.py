"""Alerts to an address that takes JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2


class WebhookAlarm:
    """Posts each alert as one JSON document. The address may hold a secret and is shown nowhere."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def send(self, told: Mapping[str, Any], deadline_seconds: float) -> str | None:
        """See `Alarm.send`. Any answer below 300 means that it was taken."""
        try:
            async with httpx2.AsyncClient(timeout=deadline_seconds) as client:
                answer = await client.post(self._url, json=dict(told))
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return f"the webhook could not be reached ({type(error).__name__})"
        return None if answer.status_code < 300 else f"the webhook answered {answer.status_code}"
