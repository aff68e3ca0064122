"""Files of the workspace, and nothing outside it."""

import os
from pathlib import Path
from typing import cast

import pytest

from outlast.adapters.tools.list_files import ListFiles
from outlast.adapters.tools.read_file import ReadFile
from outlast.adapters.tools.workspace_paths import confined
from outlast.adapters.tools.write_file import WriteFile
from outlast.domain.errors import ToolTrouble
from outlast.ports.tool import Artifacts, ToolContext
from tests.law import law


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    inside, outside = tmp_path / "t1", tmp_path / "t1-evil"
    inside.mkdir()
    outside.mkdir()
    (outside / "x").write_text("secret")
    (inside / "notes").mkdir()
    (inside / "notes" / "a..b").write_text("dots")
    (inside / "out").symlink_to(outside)
    (inside / "leaf").symlink_to(outside / "x")
    (inside / "in").symlink_to("notes/a..b")
    (inside / "loop").symlink_to("loop")
    return inside


@pytest.fixture
def context(workspace: Path) -> ToolContext:
    return ToolContext("local", "t-1", "r-1", "c1-0", "k", None, workspace, cast(Artifacts, None))


OUTSIDE = [
    "../t1-evil/x",
    "a/../../t1-evil/x",
    "%2e%2e%2ft1-evil%2fx",
    "%2e%2e/t1-evil/x",
    "..\\t1-evil\\x",
    "notes\\..\\..\\t1-evil\\x",
    "a%5cb%2f..%2f..%2ft1-evil%2fx",
    "t1\0/../../x",
    "t1%00/x",
    "/etc/passwd",
    "%2fetc/passwd",
    "//etc/passwd",
    "\\etc\\passwd",
    "C:\\x",
    "..",
    "out/x",
    "out",
    "out/../t1-evil/x",
    "leaf",
    "loop/../../t1-evil/x",
]


@law("TOOL-7.f")
@pytest.mark.parametrize("path", OUTSIDE)
async def test_g13_03_path_that_leads_out_is_refused_by_every_tool(context: ToolContext, path: str) -> None:
    calls = [
        lambda: ReadFile().execute(path, 0, 100, context),
        lambda: WriteFile().execute(path, "text", context),
        lambda: ListFiles().execute(context, path),
    ]
    for call in calls:
        with pytest.raises(ToolTrouble, match=r"^This path is not inside the workspace\.") as caught:
            await call()
        assert caught.value.code == "path_refused"
    assert (context.workspace.parent / "t1-evil" / "x").read_text() == "secret"


@pytest.mark.parametrize("path", ["notes/a..b", "./notes/../notes/a..b", "in", "notes//a..b"])
async def test_g13_03_path_that_stays_inside_works(context: ToolContext, path: str) -> None:
    assert (await ReadFile().execute(path, 0, 100, context)).data["text"] == "dots"


def test_absolute_workspace_path_is_no_way_in(workspace: Path) -> None:
    with pytest.raises(ToolTrouble, match="not inside"):
        confined(workspace, str(workspace / "notes"))


async def test_file_is_written_whole_and_read_back(context: ToolContext, workspace: Path) -> None:
    result = await WriteFile().execute("new/deep/file.md", "Grüße \ud800", context)
    assert result.data == {"path": "new/deep/file.md", "size_bytes": 11}
    assert (await ReadFile().execute("new/deep/file.md", 0, 100, context)).data == {
        "path": "new/deep/file.md",
        "text": "Grüße \ufffd",
        "size_bytes": 11,
    }
    assert [path.name for path in (workspace / "new" / "deep").iterdir()] == ["file.md"]


async def test_failed_write_leaves_the_old_file_and_nothing_else(
    context: ToolContext, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await WriteFile().execute("notes/a..b", "new", context)

    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(ToolTrouble, match="No space left on device") as caught:
        await WriteFile().execute("notes/a..b", "newer", context)
    assert caught.value.code == "not_written"
    assert [(path.name, path.read_text()) for path in (workspace / "notes").iterdir()] == [("a..b", "new")]


@pytest.mark.parametrize("path", [".", "notes", "notes/a..b/below"])
async def test_place_that_is_no_file_cannot_be_written(context: ToolContext, path: str) -> None:
    with pytest.raises(ToolTrouble) as caught:
        await WriteFile().execute(path, "text", context)
    assert caught.value.code == "not_written"


async def test_long_file_comes_in_parts(context: ToolContext, workspace: Path) -> None:
    (workspace / "long").write_text("é" * 5_000)
    first = (await ReadFile().execute("long", 0, 1_001, context)).data
    assert (len(first["text"]), first["next_offset"], first["size_bytes"]) == (500, 1_000, 10_000)
    assert "next_offset" not in (await ReadFile().execute("long", 9_000, 1_001, context)).data


async def test_g09_04_bytes_that_are_no_text_are_named(context: ToolContext, workspace: Path) -> None:
    (workspace / "latin").write_bytes(b"caf\xe9 \xef\xbf\xbd")
    data = (await ReadFile().execute("latin", 0, 100, context)).data
    assert data["text"] == "caf\ufffd \ufffd"
    assert data["note"].startswith("Not all of this is UTF-8: 1 places")


@pytest.mark.parametrize(
    ("path", "code"),
    [("nowhere", "not_found"), ("notes", "not_a_file"), ("pipe", "not_a_file"), ("elf", "binary")],
)
async def test_what_is_no_text_file_is_refused_at_once(
    context: ToolContext, workspace: Path, path: str, code: str
) -> None:
    os.mkfifo(workspace / "pipe")
    (workspace / "elf").write_bytes(b"\x7fELF\0\0")
    with pytest.raises(ToolTrouble) as caught:
        await ReadFile().execute(path, 0, 100, context)
    assert caught.value.code == code


async def test_listing_shows_files_follows_no_links_and_is_bounded(
    context: ToolContext, workspace: Path
) -> None:
    listed = (await ListFiles().execute(context)).data["files"]
    assert {one["path"] for one in listed} == {"notes/a..b", "leaf", "in", "loop"}
    for number in range(501):
        (workspace / "notes" / f"{number:03}").touch()
    data = (await ListFiles().execute(context, "notes")).data
    assert len(data["files"]) == 500
    assert data["files"][0]["path"] == "notes/000"
    assert "first 500" in data["note"]
    with pytest.raises(ToolTrouble, match="There is no folder"):
        await ListFiles().execute(context, "nowhere")
