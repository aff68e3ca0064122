"""A context to call a tool in, without a run around it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from outlast.ports.search import Fetch, Search
from outlast.ports.tool import RunMemory, SideModel, ToolContext


class ArtifactsInMemory:
    """Artifacts by their digest, for as long as the test lasts."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    async def put(self, content: str | bytes) -> str:
        """Keep `content` and return its digest."""
        raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
        digest = hashlib.sha256(raw).hexdigest()
        self._kept[digest] = raw
        return digest

    async def get(self, digest: str) -> bytes | None:
        """The content with that digest, if it was kept."""
        return self._kept.get(digest)


def tool_context(
    workspace: Path,
    *,
    search: Search | None = None,
    fetch: Fetch | None = None,
    model: SideModel | None = None,
    memory: RunMemory | None = None,
) -> ToolContext:
    """The context of one call of a run that has `workspace`, artifacts in memory, and the services that are given."""
    return ToolContext(
        user_id="local",
        thread_id="t-test",
        run_id="r-test",
        call_id="c1-0",
        idempotency_key="r-test.c1-0",
        subtask=None,
        workspace=workspace,
        artifacts=ArtifactsInMemory(),
        search=search,
        fetch=fetch,
        model=model,
        memory=memory,
    )
