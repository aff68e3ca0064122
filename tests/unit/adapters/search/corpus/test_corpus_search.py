"""What belongs to a corpus, what is passed over and why, and how it follows its folder."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from outlast.adapters.search.corpus import CorpusSearch
from outlast.adapters.search.corpus import refresh as refreshing
from outlast.adapters.search.corpus.folder import list_folder
from outlast.adapters.search.corpus.index import index_file_for
from outlast.domain.errors import CallerMistake, ToolTrouble
from tests.law import law
from tests.unit.adapters.search.making import encrypted_pdf, page, pdf, write

Opener = Callable[..., CorpusSearch]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opener]:
    made: list[CorpusSearch] = []

    def opener(root: Path, index: Path | None = None, limit_seconds: float = 20.0) -> CorpusSearch:
        made.append(CorpusSearch(root, index, limit_seconds=limit_seconds))
        return made[-1]

    yield opener
    for corpus in made:
        await corpus.close()


async def refused(call: Awaitable[object]) -> ToolTrouble:
    with pytest.raises(ToolTrouble) as caught:
        await call
    return caught.value


@law("TOOL-8.a")
async def test_markdown_text_html_and_pdf_are_searched_and_read(tmp_path: Path, opened: Opener) -> None:
    article = "".join(f"<p>Lagoon walls last {year} years, says part {year}.</p>" for year in range(100, 130))
    write(
        tmp_path,
        {
            "a.md": "# Markdown title\n\nA lagoon.",
            "b.txt": "Plain title\n\nA lagoon.",
            "deep/er/c.html": page(f"<h2>Walls</h2>{article}", "Html title"),
            "d.pdf": pdf("A lagoon of paper.", title="Pdf title"),
        },
    )
    corpus = opened(tmp_path)
    hits = {hit.url: hit for hit in await corpus.search("lagoon", 10)}
    assert {hit.title for hit in hits.values()} == {
        "Markdown title",
        "Plain title",
        "Html title",
        "Pdf title",
    }
    found = await corpus.fetch("corpus://deep/er/c.html")
    assert "Lagoon walls last 129 years" in found.text
    assert not any(junk in found.text for junk in ("tracked", "newsletter", "Shop", "color: red"))
    assert (found.media_type, found.is_cut) == ("text/html", False)
    assert (await corpus.fetch("corpus://d.pdf")).text == "A lagoon of paper."
    assert corpus.problems() == []


async def test_g09_08_what_a_file_is_is_told_by_its_bytes(tmp_path: Path, opened: Opener) -> None:
    write(
        tmp_path,
        {
            "really-a.txt": pdf("Hidden in a text file."),
            "picture.html": b"\x89PNG\r\n\x1a\n" + bytes(50),
            "nul.txt": b"text\x00more",
            "empty.pdf": b"",
            "locked.pdf": encrypted_pdf(),
            "broken.pdf": b"%PDF-1.7\nnothing that follows makes sense",
            "scan.pdf": pdf(""),
            "fine.md": "# Fine",
        },
    )
    corpus = opened(tmp_path)
    await corpus.refresh()
    problems = dict(line.split(": ", 1) for line in corpus.problems())
    assert set(problems) == {"picture.html", "nul.txt", "empty.pdf", "locked.pdf", "broken.pdf", "scan.pdf"}
    assert "a PNG image" in problems["picture.html"]
    assert "encrypted" in problems["locked.pdf"]
    assert "empty" in problems["empty.pdf"]
    assert "without any text" in problems["scan.pdf"]
    assert (await corpus.fetch("corpus://really-a.txt")).media_type == "application/pdf"
    error = await refused(corpus.fetch("corpus://locked.pdf"))
    assert error.code == "fetch_failed"
    assert "encrypted" in error.detail


async def test_g09_08_a_long_pdf_is_read_up_to_the_page_limit(tmp_path: Path, opened: Opener) -> None:
    write(tmp_path, {"long.pdf": pdf(*[f"This is page number {number}." for number in range(400)])})
    corpus = opened(tmp_path)
    read = await corpus.fetch("corpus://long.pdf")
    assert "number 299." in read.text
    assert "number 300." not in read.text
    assert read.is_cut
    assert corpus.problems() == ["long.pdf: only the first 300 of 400 pages were read"]


async def test_a_document_that_takes_too_long_is_given_up_and_tried_again_by_the_next_process(
    tmp_path: Path, opened: Opener
) -> None:
    root = write(tmp_path / "docs", {"slow.pdf": pdf("Slow."), "fine.md": "# Fine"})
    hurried = opened(root, tmp_path / "corpus.db", limit_seconds=0.0001)
    await hurried.refresh()
    assert hurried.problems() == ["slow.pdf: skipped, it took longer than 0.0001 seconds to read"]
    await hurried.refresh()
    patient = opened(root, tmp_path / "corpus.db")
    await patient.refresh()
    assert patient.problems() == []


@pytest.mark.parametrize(
    "address",
    [
        "corpus://../secret.md",
        "corpus://a/../../secret.md",
        "corpus://%2e%2e/secret.md",
        "corpus://%2E%2E%2Fsecret.md",
        "corpus://..%2fsecret.md",
        "corpus://..\\secret.md",
        "corpus://..%5csecret.md",
        "corpus:///etc/passwd",
        "corpus://%2fetc/passwd",
        "corpus://a.md%00.txt",
        "corpus://./a.md",
        "corpus://",
        "file:///etc/passwd",
        "http://127.0.0.1/",
    ],
)
async def test_addresses_that_leave_the_corpus_are_refused(
    tmp_path: Path, opened: Opener, address: str
) -> None:
    root = write(tmp_path / "docs", {"a.md": "# A"})
    write(tmp_path, {"secret.md": "# Secret"})
    error = await refused(opened(root).fetch(address))
    assert error.code == "fetch_refused"
    assert error.next_step


async def test_only_documents_of_the_corpus_can_be_fetched(tmp_path: Path, opened: Opener) -> None:
    write(tmp_path, {"a.md": "# A", ".env": "KEY=1", "node_modules/x/readme.md": "# X", ".git/config": "x"})
    corpus = opened(tmp_path)
    for address in (
        "corpus://.env",
        "corpus://.git/config",
        "corpus://node_modules/x/readme.md",
        "corpus://b.md",
    ):
        assert (await refused(corpus.fetch(address))).code == "not_found"
    assert (await corpus.fetch("corpus://a.md#part")).url == "corpus://a.md"


async def test_awkward_names_have_addresses_that_lead_back(tmp_path: Path, opened: Opener) -> None:
    names = ["a b.md", "50%25.md", "what?.md", "c#.md", "潮汐/潟湖.md", "(x) [y].md", "&=+.md"]
    write(tmp_path, {name: f"# Lagoon {number}" for number, name in enumerate(names)})
    corpus = opened(tmp_path)
    hits = await corpus.search("lagoon", 20)
    assert len(hits) == len(names)
    for hit in hits:
        assert not any(character in hit.url for character in ' ()[]"')
        assert (await corpus.fetch(hit.url)).title == hit.title


async def test_links_out_of_the_folder_are_not_followed(tmp_path: Path, opened: Opener) -> None:
    root = write(tmp_path / "docs", {"a.md": "# Alpha", "sub/b.md": "# Beta"})
    write(tmp_path, {"secret.md": "# Secret", "more/secret.md": "# Secret", "docs-too/secret.md": "# Secret"})
    (root / "file.md").symlink_to(tmp_path / "secret.md")
    (root / "folder").symlink_to(tmp_path / "more")
    (root / "sibling.md").symlink_to("../docs-too/secret.md")
    (root / "loop").symlink_to(root)
    (root / "inside.md").symlink_to(root / "sub" / "b.md")
    (root / "dangling.md").symlink_to(tmp_path / "nowhere")
    corpus = opened(root)
    assert await corpus.search("secret", 5) == []
    assert {hit.url for hit in await corpus.search("alpha beta", 9)} == {
        "corpus://a.md",
        "corpus://sub/b.md",
        "corpus://inside.md",
    }
    noted = {line.partition(":")[0] for line in corpus.problems()}
    assert noted == {"file.md", "folder", "sibling.md", "loop", "dangling.md"}


async def test_pipes_and_names_that_are_no_text_are_passed_over(tmp_path: Path, opened: Opener) -> None:
    write(tmp_path, {"a.md": "# A"})
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("# B")
    corpus = opened(tmp_path)
    await corpus.refresh()
    assert [line for line in corpus.problems() if "not valid UTF-8" in line]


async def test_a_missing_folder_is_the_callers_mistake(tmp_path: Path, opened: Opener) -> None:
    corpus = opened(tmp_path / "nowhere")
    with pytest.raises(CallerMistake) as caught:
        await corpus.refresh()
    assert caught.value.code == "corpus_missing"
    assert "search.path" in caught.value.next_step
    assert (await refused(corpus.search("x", 3))).code == "corpus_missing"


async def test_a_folder_without_a_readable_document_is_the_callers_mistake(
    tmp_path: Path, opened: Opener
) -> None:
    write(tmp_path, {"a.png": b"\x89PNG\r\n\x1a\n"})
    corpus = opened(tmp_path)
    with pytest.raises(CallerMistake) as caught:
        await corpus.refresh()
    assert caught.value.code == "corpus_empty"
    assert "a.png" in caught.value.detail
    assert (await refused(corpus.fetch("corpus://a.png"))).code == "corpus_empty"


async def test_added_changed_and_removed_files_are_seen_by_the_next_search(
    tmp_path: Path, opened: Opener
) -> None:
    root = write(tmp_path / "docs", {"a.md": "# Alpha", "b.md": "# Beta"})
    corpus = opened(root, tmp_path / "corpus.db")
    assert [hit.title for hit in await corpus.search("alpha beta gamma", 5)] == ["Alpha", "Beta"]
    (root / "b.md").write_text("# Gamma")
    (root / "c.md").write_text("# Delta")
    assert [hit.title for hit in await corpus.search("beta gamma delta", 5)] == ["Gamma", "Delta"]
    (root / "c.md").unlink()
    assert await corpus.search("delta", 5) == []
    assert (await refused(corpus.fetch("corpus://c.md"))).code == "not_found"


async def test_a_change_of_the_same_size_and_time_is_seen(
    tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refreshing, "_CLOCK_TICK_NS", 0)
    file = write(tmp_path, {"a.md": "# Alpha"}) / "a.md"
    corpus = opened(tmp_path)
    await corpus.refresh()
    before = file.stat()
    # The clock of a file system ticks every few milliseconds.
    while file.stat().st_ctime_ns == before.st_ctime_ns:
        file.write_text("# Omega")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [hit.title for hit in await corpus.search("omega", 5)] == ["Omega"]


async def test_a_change_within_one_tick_of_the_clock_is_seen(tmp_path: Path, opened: Opener) -> None:
    write(tmp_path, {"a.md": "# Alpha"})
    (fresh,) = list_folder(tmp_path).candidates.values()
    assert refreshing._settled_stamp(fresh) != fresh.stamp
    settled = replace(fresh, changed_ns=fresh.changed_ns - 10**9)
    assert refreshing._settled_stamp(settled) == fresh.stamp


async def test_only_what_changed_is_read_again(
    tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path / "docs", {f"{name}.md": f"# {name}" for name in "abcd"})
    for file in root.iterdir():
        os.utime(file, ns=(1, 1))
    monkeypatch.setattr(refreshing, "_CLOCK_TICK_NS", 0)
    await opened(root, tmp_path / "corpus.db").refresh()
    reads: list[str] = []
    really = refreshing.read_candidate

    def counting(candidate: refreshing.Candidate, limit_bytes: int) -> bytes:
        reads.append(candidate.path)
        return really(candidate, limit_bytes)

    monkeypatch.setattr(refreshing, "read_candidate", counting)
    (root / "b.md").write_text("# changed")
    again = opened(root, tmp_path / "corpus.db")
    await again.refresh()
    await again.refresh()
    assert reads == ["b.md"]


async def test_folders_with_one_index_name_do_not_mix(tmp_path: Path, opened: Opener) -> None:
    first = opened(write(tmp_path / "one", {"a.md": "# Alpha"}), tmp_path / "corpus.db")
    second = opened(write(tmp_path / "two", {"a.md": "# Beta"}), tmp_path / "corpus.db")
    await asyncio.gather(first.refresh(), second.refresh())
    assert [hit.title for hit in await first.search("alpha beta", 5)] == ["Alpha"]
    assert [hit.title for hit in await second.search("alpha beta", 5)] == ["Beta"]


async def test_a_damaged_index_is_made_again(tmp_path: Path, opened: Opener) -> None:
    root = write(tmp_path / "docs", {"a.md": "# Alpha"})
    first = opened(root, tmp_path / "corpus.db")
    await first.refresh()
    await first.close()
    index_file_for(root, tmp_path / "corpus.db").write_bytes(b"no database at all " * 500)
    assert [hit.title for hit in await opened(root, tmp_path / "corpus.db").search("alpha", 5)] == ["Alpha"]


async def test_an_index_that_cannot_be_kept_is_made_in_memory_and_says_so(
    tmp_path: Path, opened: Opener
) -> None:
    root = write(tmp_path / "docs", {"a.md": "# Alpha"})
    corpus = opened(root, root / "a.md" / "corpus.db")
    assert [hit.title for hit in await corpus.search("alpha", 5)] == ["Alpha"]
    assert "in memory" in corpus.problems()[0]


def test_several_processes_may_index_at_once(tmp_path: Path) -> None:
    root = write(
        tmp_path / "docs", {f"{number}.md": f"# Title {number}\n\nlagoon {number}" for number in range(150)}
    )
    program = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom outlast.adapters.search.corpus import CorpusSearch\n"
        "async def main():\n    corpus = CorpusSearch(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "    print(len(await corpus.search('lagoon', 500)))\n    await corpus.close()\nasyncio.run(main())"
    )
    command = [sys.executable, "-c", program, str(root), str(tmp_path / "corpus.db")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    answers = [process.communicate(timeout=60)[0].strip() for process in running]
    assert answers == ["150"] * 4
    (index,) = tmp_path.glob("corpus-*.db")
    connection = sqlite3.connect(index)
    counts = [
        connection.execute(f"select count(*) from {table}").fetchone()[0] for table in ("document", "words")
    ]
    connection.close()
    assert counts == [150, 150]


async def test_closing_ends_a_refresh_between_two_files(tmp_path: Path, opened: Opener) -> None:
    write(tmp_path, {f"{number}.pdf": pdf(f"Page {number}.") for number in range(50)})
    corpus = opened(tmp_path)
    refreshing_now = asyncio.ensure_future(corpus.refresh())
    await asyncio.sleep(0)
    await corpus.close()
    await refreshing_now
    assert (await refused(corpus.search("page", 3))).code == "search_failed"
    await corpus.close()
