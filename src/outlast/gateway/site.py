"""What every request finds: the engine, who is who, the bounds, and who is connected."""

from __future__ import annotations

import asyncio
from dataclasses import field
from typing import Annotated

from fastapi import Depends, Request

from outlast.domain.dataclass import dataclass
from outlast.gateway.access import Access
from outlast.gateway.aside import Aside
from outlast.gateway.crew import Crew
from outlast.gateway.metrics import Metrics
from outlast.gateway.pace import Pace
from outlast.gateway.streams import Streams
from outlast.ports.store import Store
from outlast.service.shadow.report import ShadowReports
from outlast.service.stats import Statistics
from outlast.wiring.engine import Engine


@dataclass(frozen=True, slots=True)
class Site:
    """One gateway. `closing` is set once it is told to stop; `sign_ins` bounds how fast one machine may try to sign in; what takes
    long is made `aside`."""

    engine: Engine
    access: Access
    sign_ins: Pace
    streams: Streams
    crew: Crew
    statistics: Statistics
    shadows: ShadowReports
    aside: Aside = field(default_factory=Aside)
    metrics: Metrics = field(default_factory=Metrics)
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def store(self) -> Store:
        """The store of the engine."""
        return self.engine.store


def site_of(request: Request) -> Site:
    """The gateway a request came to."""
    site: Site = request.app.state.site
    return site


AtSite = Annotated[Site, Depends(site_of)]
"""The gateway a request came to, for a route."""
