"""Figures for Prometheus: requests by route, open streams, workers, and what runs used."""

from __future__ import annotations

import time
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outlast.gateway.run_counters import RunCounters

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The figures of one gateway."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "outlast_http_requests",
            "Requests that were answered.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "outlast_http_request_seconds",
            "Time from a request to its answer's first byte.",
            ("route",),
            registry=self._registry,
        )
        self._streams = Gauge("outlast_streams", "Open event streams.", registry=self._registry)
        self._workers = Gauge("outlast_workers", "Workers at work in this process.", registry=self._registry)
        self._dead_letters = Gauge(
            "outlast_dead_letters", "Notifications that could not be delivered.", registry=self._registry
        )
        self.runs = RunCounters(self._registry)
        self._degraded = Gauge(
            "outlast_degraded_tasks", "Background tasks that cannot be followed.", registry=self._registry
        )

    def text(self, *, streams: int, workers: int, dead_letters: int, degraded: int) -> bytes:
        """All figures, as Prometheus reads them."""
        self._streams.set(streams)
        self._workers.set(workers)
        self._dead_letters.set(dead_letters)
        self._degraded.set(degraded)
        return generate_latest(self._registry)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request was answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)


class Counted:
    """An application whose answers are counted, by the patterns of its routes, so that there are few names."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "none")
                method = scope["method"] if scope["method"] in _METHODS else "other"
                self._metrics.count(method, route, message["status"], time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, counting)


_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
