"""The embedder a configuration names."""

from __future__ import annotations

from collections.abc import Mapping

from outlast.ports.embedder import Embedder
from outlast.wiring.adapters import EMBEDDERS, symbol
from outlast.wiring.settings.models import missing_setting
from outlast.wiring.settings.tree import Settings


def embedder_of(settings: Settings, environ: Mapping[str, str]) -> Embedder:
    """What turns texts into vectors; nothing is loaded or asked before the first text.

    Raises CallerMistake: `missing_setting`, `missing_variable`, `invalid_base_url`, `invalid_api_key`.
    """
    memory = settings.memory
    make = symbol(EMBEDDERS[memory.embedder])
    embedder: Embedder
    if memory.embedder == "offline":
        embedder = make()
        return embedder
    if memory.model is None:
        raise missing_setting("memory.model", "Name of the embedding model at the endpoint.")
    place = settings.llm if memory.base_url is None else memory
    if place.base_url is None:
        raise missing_setting("memory.base_url", "Address of the endpoint, up to and without `/embeddings`.")
    key = place.api_key.resolve(environ) if place.api_key is not None else None
    embedder = make(place.base_url.resolve(environ), memory.model.resolve(environ), key)
    return embedder
