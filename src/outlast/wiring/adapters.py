"""Adapters by the names a configuration uses for them; a module is imported when its name is used, and its libraries with it."""

from __future__ import annotations

import importlib
from typing import Any, Final

PROVIDERS: Final = {
    "offline": "outlast.adapters.providers.offline:OfflineProvider",
    "openai_compatible": "outlast.adapters.providers.openai_compatible:OpenAICompatible",
    "replay": "outlast.adapters.providers.replay:ReplayProvider",
    "scripted": "outlast.adapters.providers.scripted:ScriptedProvider",
}
"""Model providers by `llm.provider`."""

EMBEDDERS: Final = {
    "offline": "outlast.adapters.embedders.offline.choice:offline_embedder",
    "openai_compatible": "outlast.adapters.embedders.openai_compatible:OpenAIEmbedder",
}
"""What turns texts into vectors, by `memory.embedder`."""

SEARCHES: Final = {"corpus": "outlast.adapters.search.corpus:CorpusSearch"}
"""Searches by `search.provider`."""

FETCHES: Final = {
    "http": "outlast.adapters.search.web_fetch:HttpFetch",
    "routing": "outlast.adapters.search.routing:FetchRouter",
}
"""What reads addresses."""

STORES: Final = {
    "postgres": "outlast.adapters.stores.postgres:PostgresStore",
    "redis": "outlast.adapters.stores.redis:RedisStore",
}
"""Stores on a server by `harness.persistence.backend`; each needs the extra of its name."""

MCP_SERVERS: Final = "outlast.adapters.mcp.servers:McpServers"
"""The servers of `mcp_servers`; needs the extra `mcp`."""
BREAKER: Final = "outlast.adapters.providers.breaker:Breaker"
CIRCUIT: Final = "outlast.adapters.providers.breaker:Circuit"
"""What stands before every endpoint, and the state of it that runs share."""

KNOWN_DIALECTS: Final = "outlast.adapters.providers.openai_compatible.known:KnownDialects"
"""What was learned of the models at an address, between processes."""

CHECKED: Final = "outlast.adapters.providers.checked:Checked"
"""What stands before a provider that somebody else wrote."""

RECORDER: Final = "outlast.adapters.providers.replay:Recorder"
RECORDING: Final = "outlast.adapters.providers.replay:Recording"
"""What keeps every call of a model in a file."""

FIND_MODEL: Final = "outlast.adapters.catalogue.genai_prices:find_model"
"""What knows prices and windows."""

WEBHOOK: Final = "outlast.adapters.alarms.webhook:WebhookAlarm"

REPAIR: Final = "outlast.adapters.providers.repair:repair_json"


def symbol(place: str) -> Any:
    """What `package.module:name` names."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
