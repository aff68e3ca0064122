"""The application: every route, behind the doorway."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from outlast import __version__
from outlast.gateway.doorway import Doorway, Names
from outlast.gateway.metrics import Counted
from outlast.gateway.problems import tell_problems
from outlast.gateway.routes import (
    background,
    events,
    health,
    looking,
    memory,
    page,
    runs,
    session,
    shadow,
    stats,
    steering,
    threads,
)
from outlast.gateway.shapes.problem import PROBLEMS, Problem
from outlast.gateway.site import Site


def make_app(site: Site, names: Names) -> FastAPI:
    """The application of a gateway that may be addressed under these names."""
    app = _routed()
    app.state.site = site
    tell_problems(app)
    app.add_middleware(Doorway, names=names, max_body_bytes=site.engine.settings.gateway.max_body_bytes)
    app.add_middleware(Counted, metrics=site.metrics)
    return app


def describe() -> dict[str, Any]:
    """The OpenAPI document of every gateway."""
    return _routed().openapi()


def _routed() -> FastAPI:
    app = _Described(
        title="outlast",
        version=__version__,
        summary="Start, watch and steer durable agent runs.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=PROBLEMS,
        generate_unique_id_function=lambda route: f"{route.tags[0]}_{route.name.strip('_')}".replace(
            " ", "_"
        ),
    )
    for routes in (
        threads,
        background,
        runs,
        events,
        steering,
        session,
        stats,
        shadow,
        memory,
        looking,
        health,
        page,
    ):
        app.include_router(routes.router)
    return app


class _Described(FastAPI):
    """An application whose document knows the shape of problems, which no route names as its own."""

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        document["components"]["schemas"]["Problem"] = Problem.model_json_schema()
        return document
