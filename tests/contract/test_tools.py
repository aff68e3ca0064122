"""Every tool that is found keeps the tool contract: the built-in ones, and a plain function in a process of its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from outlast.adapters.execution.binding import bind
from outlast.adapters.execution.validation import check_arguments
from outlast.domain.door import Json
from outlast.domain.recalled import Recalled
from outlast.ports.search import Page, SearchHit
from outlast.ports.tool import ToolContext
from outlast.testing.contracts.tool import ToolContract, ToolSubject
from outlast.wiring.discover import ToolCatalogue
from tests.unit.adapters.execution import plain_tools

DIGEST = "0" * 64
ARGUMENTS: dict[str, dict[str, Any]] = {
    "answer_background_task": {"task": "render", "answer": "yes"},
    "ask_human": {"question": "Which one?"},
    "cancel_background_task": {"task": "render"},
    "list_background_tasks": {},
    "list_files": {},
    "recall": {"query": "What is durable?"},
    "read_artifact": {"digest": DIGEST},
    "read_file": {"path": "notes.md"},
    "remember": {"text": "It is durable."},
    "tell_run": {"text": "Look at page two."},
    "summarize": {"text": "One. Two."},
    "web_fetch": {"url": "https://example.org/"},
    "web_search": {"query": "durable"},
    "write_file": {"path": "out/new.md", "content": "text"},
    "write_report": {
        "title": "T",
        "summary": "S",
        "sections": [{"heading": "H", "claims": [{"text": "It holds.", "sources": ["s-1"]}]}],
    },
}
"""What each built-in tool is called with; a new tool brings a line here."""


class Library:
    """One page, found by every query; the artifacts and the model of a run that has little."""

    async def search(self, query: str, limit: int) -> list[SearchHit]:
        return [SearchHit("https://example.org/", "Example", query, 1.0)][:limit]

    async def fetch(self, url: str) -> Page:
        return Page(url, "Example", "A page.", "text/plain", 7)

    async def ask(self, purpose: str, prompt: str, text: str) -> str:
        return text[:10]

    async def put(self, content: str | bytes) -> str:
        return DIGEST

    async def get(self, digest: str) -> bytes | None:
        return b"kept"

    async def close(self) -> None: ...


class Chores:
    """One background task of the conversation."""

    task: ClassVar[Json] = {"name": "render", "status": "working"}

    async def list(self) -> list[Json]:
        return [self.task]

    async def show(self, wanted: str, offset: int, limit: int) -> Json:
        return self.task

    async def cancel(self, wanted: str) -> Json:
        return self.task

    async def answer(self, wanted: str, answer: str | dict[str, Json], question: str | None) -> Json:
        return self.task


class Company:
    """One other run of the conversation, which hears."""

    async def names(self) -> list[str]:
        return ["r-2"]

    async def tell(self, run_id: str, text: str) -> None: ...


class Notebook:
    """A memory of one note."""

    note = Recalled(id="m-1", tier="long_term", kind="note", text="It is durable.")

    async def remember(self, text: str, replaces: Sequence[str]) -> str:
        return self.note.id

    async def recall(self, query: str, limit: int) -> list[Recalled]:
        return [self.note]

    async def read(self, memory_id: str) -> Recalled | None:
        return self.note


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    (tmp_path / "notes.md").write_text("notes")
    library = Library()
    return ToolContext(
        user_id="local",
        thread_id="t-1",
        run_id="r-1",
        call_id="c1-0",
        idempotency_key="r-1.c1-0",
        subtask=None,
        workspace=tmp_path,
        artifacts=library,
        search=library,
        fetch=library,
        model=library,
        memory=Notebook(),
        mates=Company(),
        background=Chores(),
    )


class TestBuiltInTools(ToolContract):
    @pytest.fixture(params=[entry.name for entry in ToolCatalogue().list()])
    def subject(self, request: pytest.FixtureRequest, context: ToolContext) -> ToolSubject:
        tool = ToolCatalogue().load([request.param])[request.param]
        arguments = check_arguments(tool, ARGUMENTS[request.param])
        assert isinstance(arguments, dict)
        return ToolSubject(tool=tool, context=context, arguments=arguments)


class TestPlainFunction(ToolContract):
    @pytest.fixture
    def subject(self, context: ToolContext) -> ToolSubject:
        return ToolSubject(tool=bind(plain_tools.add), context=context, arguments={"a": 1, "b": 2})
