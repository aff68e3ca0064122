"""What a document is, in which letters, and how its lines belong together."""

import gzip
import os
import signal
import threading
import zipfile
from collections.abc import Iterator
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.adapters.search.corpus.passages import PASSAGE_CHARS, passages_of
from outlast.adapters.search.reading.charset import decode
from outlast.adapters.search.reading.document import read_document
from outlast.adapters.search.reading.reader_process import ReaderProcess
from outlast.adapters.search.reading.reading import MAX_TEXT_CHARS, Unreadable
from outlast.adapters.search.reading.reflow import reflow
from outlast.adapters.search.reading.sniff import sniff
from tests.law import law
from tests.unit.adapters.search.making import page, pdf

ENDLESS = b"<p>A lagoon holds the sea, they say.</p>" * 400_000
"""A page that takes its parser many seconds."""


@pytest.fixture
def reader() -> Iterator[ReaderProcess]:
    process = ReaderProcess(10)
    yield process
    process.close()


def zipped() -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "text")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "media_type", "kind"),
    [
        (b"%PDF-1.7 ...", "a.txt", "text/plain", "pdf"),
        (b"\n\njunk %PDF-1.4", "a", "", "pdf"),
        (b"<!DOCTYPE html><html>", "a.txt", "text/plain", "html"),
        (b"  <!-- note -->\n<HTML lang=en>", "a.md", "", "html"),
        (b"\xef\xbb\xbf<html>", "", "", "html"),
        ("<html><p>x".encode("utf-16"), "", "", "html"),
        (b"<?xml version='1.0'?>\n<!DOCTYPE html><html>", "a.xml", "", "html"),
        (b"<p>fragment</p>", "a.html", "", "html"),
        (b"<p>fragment</p>", "", "text/html", "html"),
        (b"<p>inside</p> markdown", "a.md", "", "markdown"),
        (b"a < b and b > c", "a.html", "", "text"),
        (b"# Heading", "a.MD", "", "markdown"),
        (b"plain", "a.pdf", "application/pdf", "text"),
        (b"", "a.pdf", "", "empty"),
        (b" \n\t ", "", "", "empty"),
        (b"\x89PNG\r\n\x1a\n...", "page.html", "text/html", "binary"),
        (b"\xff\xd8\xff\xe0", "", "", "binary"),
        (b"text\x00text", "a.txt", "", "binary"),
        (bytes(range(1, 32)) * 3, "a.txt", "", "binary"),
        (gzip.compress(b"x", mtime=0), "a.txt", "", "binary"),
        (zipped(), "a.md", "", "binary"),
        ("text with é".encode("utf-16"), "a.txt", "", "text"),
        (b"\x1b[1mbold\x1b[0m in a terminal, with words around it", "a.log", "", "text"),
    ],
)
def test_g09_08_bytes_decide_and_names_only_break_ties(
    data: bytes, name: str, media_type: str, kind: str
) -> None:
    found, label = sniff(data, name, media_type)
    assert found == kind
    assert bool(label) == (kind == "binary")


@given(st.binary(max_size=300))
def test_any_bytes_are_some_kind_and_some_text(data: bytes) -> None:
    sniff(data)
    text, _ = decode(data)
    text.encode()


@law("TOOL-8.g")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030"])
def test_chinese_is_read_in_its_usual_encodings(encoding: str) -> None:
    text = "我们把部署窗口改到周四晚上，值班不变。"
    assert decode(text.encode(encoding))[0] == text


@pytest.mark.parametrize(
    "text", ["informação e São Paulo: não há", "Fünf größere Übungen über Äpfel", "l'été, à Nîmes, çà et là"]
)
def test_western_text_is_not_taken_for_chinese(text: str) -> None:
    decoded, note = decode(text.encode("windows-1252"))
    assert decoded == text
    assert "guessed" in note


def test_nearly_utf_8_loses_only_its_broken_bytes() -> None:
    decoded, note = decode("日本語のとても長い文章です".encode() + b"\xff!")
    assert decoded == "日本語のとても長い文章です\ufffd!"
    assert note == "1 characters are not valid utf-8 and were replaced"


def test_line_ends_become_one_kind() -> None:
    assert decode(b"a\r\nb\rc\n")[0] == "a\nb\nc\n"


def test_lines_of_a_printed_page_become_paragraphs_again() -> None:
    printed = (
        "Maintenance of plants\r\n"
        "The powerhouse is reached on foot, no vessel is hired, and one crew of sixty peo-\r\n"
        "ple looks after the whole plant in every weather, which is why repairs are so very\r\n"
        "quick.\r\n"
        "Where the money goes\r\n"
        "Two fifths are vessels.\r\n"
        "- first item\r\n"
        "- second item"
    )
    assert reflow(printed).split("\n\n") == [
        "Maintenance of plants",
        (
            "The powerhouse is reached on foot, no vessel is hired, and one crew of sixty people looks after the whole plant in "
            "every weather, which is why repairs are so very quick."
        ),
        "Where the money goes",
        "Two fifths are vessels.",
        "- first item",
        "- second item",
    ]


def test_lines_of_unspaced_scripts_are_joined_without_a_space() -> None:
    assert reflow(
        "潮汐潟湖的容量系数约为百分之二十一，海上\n风电约为百分之四十七，差距来自潮汐的节奏\n本身。"
    ) == ("潮汐潟湖的容量系数约为百分之二十一，海上风电约为百分之四十七，差距来自潮汐的节奏本身。")


@settings(max_examples=60)
@given(st.text(alphabet="ab .\n#。中", max_size=6000), st.integers(20, 1500))
def test_passages_cover_the_text_in_order_and_within_the_limit(text: str, limit: int) -> None:
    passages = passages_of(text, limit)
    assert "".join(text[passage.start : passage.end] for passage in passages) == text
    assert all(0 < passage.end - passage.start <= limit for passage in passages)


def test_a_passage_knows_the_heading_it_stands_under() -> None:
    text = "# One\n\nfirst\n\n## Two\n\nsecond " + "word " * 400
    passages = passages_of(text)
    assert [passage.heading for passage in passages] == ["One", "Two", "Two"]
    assert max(passage.end - passage.start for passage in passages) <= PASSAGE_CHARS


def test_a_long_text_is_cut_and_says_so(reader: ReaderProcess) -> None:
    reading = read_document(b"word " * 500_000, reader, name="long.txt")
    assert reading.is_cut
    assert len(reading.text) == MAX_TEXT_CHARS
    assert "only the first 2,000,000 characters" in reading.note


def test_a_huge_page_is_cut_before_it_is_parsed(reader: ReaderProcess) -> None:
    reading = read_document(page("<p>A lagoon holds the sea, they say.</p>" * 60_000).encode(), reader)
    assert reading.is_cut
    assert "2,048 KiB" in reading.note


@law("TOOL-8.k")
def test_g09_08_a_document_that_hangs_the_parser_is_killed_and_the_next_one_is_read() -> None:
    hurried = ReaderProcess(3)
    hurried.convert("pdf", pdf("warm"))
    with pytest.raises(Unreadable) as caught:
        hurried.convert("html", ENDLESS)
    assert caught.value.is_passing
    assert hurried.convert("pdf", pdf("next"))[1] == "next"
    hurried.close()


def test_a_child_that_dies_is_replaced(reader: ReaderProcess) -> None:
    reader.convert("pdf", pdf("first"))
    child = reader._child
    assert child is not None
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert reader.convert("pdf", pdf("second"))[1] == "second"


def test_a_conversion_can_be_ended_from_another_thread() -> None:
    reader = ReaderProcess(60)
    reader.convert("pdf", pdf("warm"))
    failures: list[Unreadable] = []

    def convert() -> None:
        try:
            reader.convert("html", ENDLESS)
        except Unreadable as error:
            failures.append(error)

    thread = threading.Thread(target=convert)
    thread.start()
    reader.kill()
    thread.join(20)
    assert not thread.is_alive()
    assert failures
    with pytest.raises(Unreadable):
        reader.convert("pdf", pdf("later"))
    reader.close()


def test_the_child_sees_no_secrets(reader: ReaderProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", "canary-secret")
    reader.convert("pdf", pdf("x"))
    assert reader._child is not None
    with open(f"/proc/{reader._child.pid}/environ", "rb") as environment:
        assert b"canary-secret" not in environment.read()
