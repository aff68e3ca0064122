"""Tools are found without being imported, and imported when a task names them."""

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from outlast.domain.errors import CallerMistake
from outlast.domain.tool_call import Effect
from outlast.tools import ToolContext, ToolResult, tool
from outlast.wiring.discover import ToolCatalogue
from tests.law import law

BUILT_IN = {
    "answer_background_task",
    "ask_human",
    "cancel_background_task",
    "list_background_tasks",
    "list_files",
    "read_artifact",
    "recall",
    "remember",
    "read_file",
    "summarize",
    "tell_run",
    "web_fetch",
    "web_search",
    "write_file",
    "write_report",
}

Write = Callable[..., Path]
NO_CONTEXT = cast(ToolContext, None)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    return put


def tool_text(name: str, *, says: str = "ok") -> str:
    return f"""
        import pathlib
        from outlast.tools import tool
        with (pathlib.Path(__file__).parent / "imported").open("a") as log:
            log.write("{name}\\n")
        @tool(effect="read")
        async def {name}(text: str) -> str:
            "Answer"
            return "{says}"
    """


@law("TOOL-7.a", "TOOL-7.b", "TOOL-7.c", "TOOL-7.d", "TOOL-7.f", "TOOL-7.h", "TOOL-7.i")
def test_built_in_tools_are_listed_and_load() -> None:
    catalogue = ToolCatalogue()
    entries = {entry.name: entry for entry in catalogue.list()}
    assert set(entries) == BUILT_IN
    assert all(entry.effect and entry.origin == "built-in" for entry in entries.values())
    loaded = catalogue.load(BUILT_IN)
    assert {name: str(one.effect) for name, one in loaded.items()} == {
        name: entry.effect for name, entry in entries.items()
    }
    assert all(one.is_effect_declared for one in loaded.values())


@law("TOOL-1.d")
def test_of_fifty_tools_the_three_named_are_imported(tmp_path: Path, write: Write) -> None:
    for number in range(50):
        write(f"tool_{number:02}.py", tool_text(f"tool_{number:02}"))
    catalogue = ToolCatalogue([tmp_path])
    assert len(catalogue.list()) == 50 + len(BUILT_IN)
    assert not (tmp_path / "imported").exists()
    catalogue.load(["tool_07", "tool_11", "tool_49"])
    catalogue.load(["tool_07"])
    assert (tmp_path / "imported").read_text().split() == ["tool_07", "tool_11", "tool_49"]


def test_built_in_tools_are_imported_when_named(monkeypatch: pytest.MonkeyPatch) -> None:
    home = "outlast.adapters.tools"
    for name in ("web_search", "summarize"):
        monkeypatch.delitem(sys.modules, f"{home}.{name}", raising=False)
    ToolCatalogue().load(["web_search"])
    assert f"{home}.web_search" in sys.modules
    assert f"{home}.summarize" not in sys.modules


@law("TOOL-1.e")
async def test_file_added_or_changed_meanwhile_is_found_by_the_next_load(
    tmp_path: Path, write: Write
) -> None:
    async def answer() -> object:
        return await catalogue.load(["late"])["late"].run({"text": ""}, NO_CONTEXT)

    catalogue = ToolCatalogue([tmp_path])
    with pytest.raises(CallerMistake, match="There is no tool late"):
        catalogue.load(["late"])
    write("late.py", tool_text("late", says="first"))
    assert await answer() == ToolResult(success=True, data="first")
    write("late.py", tool_text("late", says="second"))
    assert await answer() == ToolResult(success=True, data="second")


@law("TOOL-1.f")
def test_tool_of_the_user_replaces_the_built_in_one_and_the_listing_shows_it(
    tmp_path: Path, write: Write
) -> None:
    path = write("mine.py", tool_text("summarize"))
    catalogue = ToolCatalogue([tmp_path])
    (entry,) = [one for one in catalogue.list() if one.name == "summarize"]
    assert entry.path == f"{path}:summarize"
    assert entry.replaces is not None
    assert entry.replaces.endswith("adapters/tools/summarize.py:Summarize")
    assert "text" in catalogue.load(["summarize"])["summarize"].input_schema["properties"]


@law("TOOL-1.g")
def test_two_tools_of_one_name_are_refused_with_both_places(tmp_path: Path, write: Write) -> None:
    write("one.py", tool_text("same"))
    write("two.py", tool_text("same"))
    write("fine.py", tool_text("fine"))
    catalogue = ToolCatalogue([tmp_path])
    with pytest.raises(CallerMistake, match=r"one\.py:same and .*two\.py:same") as caught:
        catalogue.load(["same"])
    assert caught.value.code == "tool_named_twice"
    with pytest.raises(CallerMistake, match=r"one\.py:same and"):
        catalogue.list()
    assert set(catalogue.load(["fine"])) == {"fine"}


@law("TOOL-1.b")
def test_classes_functions_and_aliases_are_found_by_their_text(tmp_path: Path, write: Write) -> None:
    write(
        "many.py",
        """
        import outlast.tools
        import outlast.tools as kit
        from outlast.tools import BaseTool as Base, Effect, tool as declare

        class Shared(Base):
            description = "A base for others"
            input_schema = {"type": "object"}

        class Derived(Shared):
            name = "derived"
            effect = Effect.IDEMPOTENT
            async def execute(self): ...

        class Spelled(kit.BaseTool):
            name: str = "spelled"
            description = "x"
            input_schema = {"type": "object"}
            async def execute(self): ...

        @outlast.tools.tool
        def bare() -> int:
            "One"
            return 1

        @declare(name="renamed", effect="once")
        async def original() -> int:
            "Two"
            return 2

        def tool(function):
            return function

        @tool
        def no_tool_of_ours(): ...
        """,
    )
    catalogue = ToolCatalogue([tmp_path])
    found = {entry.name: entry.effect for entry in catalogue.list() if entry.origin == "folder"}
    assert found == {"derived": "idempotent", "spelled": None, "bare": None, "renamed": "once"}
    loaded = catalogue.load(found)
    assert loaded["derived"].effect is Effect.IDEMPOTENT
    assert (loaded["bare"].effect, loaded["bare"].is_effect_declared) == (Effect.ONCE, False)


@law("TOOL-1.c")
def test_import_path_and_entry_point_are_found_without_import(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("pack/__init__.py", "raise AssertionError('imported to be listed')")
    write("pack/words.py", tool_text("word_count"))
    write("brought.py", tool_text("brought"))
    write("brought-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: brought\nVersion: 1.0\n")
    write("brought-1.0.dist-info/entry_points.txt", "[outlast.tools]\nbrought = brought:brought\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    catalogue = ToolCatalogue(["pack.words:word_count"])
    origins = {
        entry.name: (entry.origin, entry.effect) for entry in catalogue.list() if entry.origin != "built-in"
    }
    assert origins == {"word_count": ("import path", "read"), "brought": ("entry point", "read")}
    write("pack/__init__.py", "")
    assert set(catalogue.load(["word_count", "brought"])) == {"word_count", "brought"}


def test_object_given_in_code_is_a_tool_like_any_other() -> None:
    @tool(effect="read")
    async def twice(number: int) -> int:
        """Double a number."""
        return 2 * number

    catalogue = ToolCatalogue(given=[twice])
    assert "twice" in {entry.name for entry in catalogue.list() if entry.origin == "code"}
    assert catalogue.load(["twice"])["twice"].description == "Double a number."


def test_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(CallerMistake, match="Did you mean web_search") as caught:
        ToolCatalogue().load(["web_serach"])
    assert caught.value.code == "unknown_tool"
    with pytest.raises(CallerMistake, match=r"no MCP server rendrer\. Did you mean renderer:draw"):
        ToolCatalogue(mcp_servers=["renderer"]).load(["rendrer:draw"])


def test_features_still_to_come_are_noticed_and_left_out() -> None:
    catalogue = ToolCatalogue()
    names = ["web_search", "run_code"]
    assert set(catalogue.load(names)) == {"web_search"}
    assert [notice.rpartition(";")[0] for notice in catalogue.later(names)] == [
        "The tool run_code is not there yet"
    ]


def test_file_that_cannot_be_parsed_or_imported_is_named(tmp_path: Path, write: Write) -> None:
    write("broken.py", "def (:")
    write("raises.py", tool_text("raises") + "\n        raise RuntimeError('no key')\n")
    catalogue = ToolCatalogue([tmp_path])
    assert "broken.py" in catalogue.problems()[0]
    with pytest.raises(CallerMistake, match=r"raises\.py cannot be imported: RuntimeError: no key"):
        catalogue.load(["raises"])


def test_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CallerMistake, match=r"tools\.paths names .*nowhere"):
        ToolCatalogue([tmp_path / "nowhere"]).list()


def test_tool_file_may_import_its_neighbour(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    write("_neighbour_of_a_tool.py", "WORD = 'hello'")
    write(
        "asks.py",
        """
        from _neighbour_of_a_tool import WORD
        from outlast.tools import tool
        @tool(effect="read")
        async def asks() -> str:
            "Ask"
            return WORD
        """,
    )
    assert set(ToolCatalogue([tmp_path]).load(["asks"])) == {"asks"}
