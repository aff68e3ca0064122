"""What calls of tools need: a context over a folder of the test, artifacts in memory."""

import hashlib
from pathlib import Path

import pytest

from outlast.ports.tool import ToolContext


class ArtifactsInMemory:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def put(self, content: str | bytes) -> str:
        data = content.encode() if isinstance(content, str) else content
        digest = hashlib.sha256(data).hexdigest()
        self.kept[digest] = data
        return digest

    async def get(self, digest: str) -> bytes | None:
        return self.kept.get(digest)


@pytest.fixture
def artifacts() -> ArtifactsInMemory:
    return ArtifactsInMemory()


@pytest.fixture
def context(tmp_path: Path, artifacts: ArtifactsInMemory) -> ToolContext:
    return ToolContext(
        user_id="local",
        thread_id="t-1",
        run_id="r-1",
        call_id="c1-0",
        idempotency_key="r-1.c1-0",
        subtask=None,
        workspace=tmp_path,
        artifacts=artifacts,
    )
