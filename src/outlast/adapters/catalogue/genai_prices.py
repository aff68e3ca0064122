"""Prices and windows from the table that the library genai-prices carries in its package."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from outlast.domain.task import Price
from outlast.ports.catalogue import KnownModel


def find_model(base_url: str, model: str) -> KnownModel | None:
    """What the table knows of `model` at `base_url`. The table is only read for addresses on the public net.

    A price in tiers counts at its first tier; a price by the hour counts as it is at this moment.
    """
    if _is_near(urlsplit(base_url).hostname or ""):
        return None
    from genai_prices import data_snapshot

    try:
        _, known = data_snapshot.get_snapshot().find_provider_model(model, None, None, base_url)
    except LookupError:
        return None
    return KnownModel(_price(known.get_prices(datetime.now(UTC))), known.context_window)


def _price(prices: Any) -> Price | None:
    if prices.input_mtok is None or prices.output_mtok is None:
        return None
    return Price(input_usd=_first(prices.input_mtok), output_usd=_first(prices.output_mtok))


def _first(price: Any) -> float:
    return float(price if isinstance(price, Decimal) else price.base)


def _is_near(host: str) -> bool:
    """Is this a name or address of this machine or its network?"""
    if not host or host == "localhost" or ("." not in host.strip("[]") and ":" not in host):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host.endswith((".local", ".internal", ".lan"))
