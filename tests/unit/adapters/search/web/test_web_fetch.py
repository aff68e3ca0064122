"""Reading pages over real sockets."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest

from outlast.adapters.search.routing import FetchRouter
from outlast.adapters.search.web_fetch import HttpFetch
from outlast.domain.errors import ToolTrouble
from outlast.ports.search import Page
from tests.law import law
from tests.patience import PATIENCE_SECONDS
from tests.unit.adapters.search.making import encrypted_pdf, page, pdf
from tests.unit.adapters.search.serving import Site, answer, serving

ARTICLE = "<h1>Lagoons</h1>" + "".join(
    f"<p>The lagoon number {number} holds the sea.</p>" for number in range(20)
)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as running:
        yield running


@pytest.fixture
async def fetch(site: Site) -> AsyncIterator[HttpFetch]:
    reading = HttpFetch(timeout_seconds=10, max_bytes=200_000, allow_hosts=(f"127.0.0.1:{site.port}",))
    yield reading
    await reading.close()


async def refusal(fetch: HttpFetch, url: str) -> ToolTrouble:
    with pytest.raises(ToolTrouble) as caught:
        await fetch.fetch(url)
    assert caught.value.next_step
    return caught.value


@law("TOOL-8.i")
async def test_a_page_becomes_markdown_without_its_clutter(site: Site, fetch: HttpFetch) -> None:
    linked = ARTICLE + '<p>See <a href="../more.html">more about it</a>, it says.</p>'
    site.answers["/a/page.html"] = answer(
        page(linked, "About lagoons"), Content_Type="text/html; charset=utf-8"
    )
    found = await fetch.fetch(site.url("/a/page.html#part"))
    assert (found.title, found.media_type, found.is_cut) == ("About lagoons", "text/html", False)
    assert found.url == site.url("/a/page.html")
    assert "# Lagoons" in found.text
    assert f"[more about it]({site.url('/more.html')})" in found.text
    assert not any(junk in found.text for junk in ("tracked", "newsletter", "Shop"))


@law("TOOL-8.h")
async def test_g09_08_a_pdf_served_as_text_is_read_as_a_pdf(site: Site, fetch: HttpFetch) -> None:
    site.answers["/notes.txt"] = answer(pdf("The sea is in the lagoon."), Content_Type="text/plain")
    found = await fetch.fetch(site.url("/notes.txt"))
    assert (found.text, found.media_type) == ("The sea is in the lagoon.", "application/pdf")


async def test_g09_08_binary_data_becomes_one_line(site: Site, fetch: HttpFetch) -> None:
    site.answers["/page.html"] = answer(b"\x89PNG\r\n\x1a\n" + bytes(992), Content_Type="text/html")
    found = await fetch.fetch(site.url("/page.html"))
    assert found.text == "binary, 1,000 bytes: a PNG image, not text. There is no text to read here."
    site.answers["/doc.pdf"] = answer(gzip.compress(pdf("hidden")), Content_Type="application/pdf")
    assert "gzip data" in (await fetch.fetch(site.url("/doc.pdf"))).text


async def test_g09_08_what_gives_no_text_is_a_failure_that_says_why(site: Site, fetch: HttpFetch) -> None:
    site.answers["/locked.pdf"] = answer(encrypted_pdf())
    site.answers["/empty.pdf"] = answer(b"", Content_Type="application/pdf")
    assert "encrypted" in (await refusal(fetch, site.url("/locked.pdf"))).detail
    assert "empty" in (await refusal(fetch, site.url("/empty.pdf"))).detail


@law("TOOL-8.g")
@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("潮汐潟湖 café".encode(), "text/plain"),
        ("潮汐潟湖 café".encode("utf-16"), "text/plain"),
        ("潮汐潟湖 caf".encode("gb18030") + "é".encode("gb18030"), "text/plain; charset=gb2312"),
        ("潮汐潟湖与海上风电".encode("gb18030"), "text/plain"),
        ("潮汐潟湖".encode("big5"), "text/plain; charset=big5"),
        ("しりとり".encode("shift_jis"), "text/plain; charset=Shift_JIS"),
        ("café à la carte".encode("latin-1"), "text/plain"),
        ("café".encode(), "text/plain; charset=iso-8859-1"),
        ("café".encode(), "text/plain; charset=no-such-charset"),
        ("café".encode(), "text/plain; charset=rot13"),
    ],
)
async def test_charsets_are_told_by_bytes_and_then_by_labels(
    site: Site, fetch: HttpFetch, body: bytes, content_type: str
) -> None:
    site.answers["/t"] = answer(body, Content_Type=content_type)
    text = (await fetch.fetch(site.url("/t"))).text
    assert text in {"潮汐潟湖 café", "潮汐潟湖与海上风电", "潮汐潟湖", "しりとり", "café à la carte", "café"}


async def test_a_charset_declared_in_the_page_is_used(site: Site, fetch: HttpFetch) -> None:
    html = page("<p>しりとりの遊び方。</p>" * 20).replace("<head>", '<head><meta charset="shift_jis">')
    site.answers["/jp"] = answer(html.encode("shift_jis"), Content_Type="text/html")
    assert "しりとりの遊び方。" in (await fetch.fetch(site.url("/jp"))).text


async def test_a_zipped_page_is_unzipped(site: Site, fetch: HttpFetch) -> None:
    site.answers["/z"] = answer(
        gzip.compress(b"plain text"), Content_Type="text/plain", Content_Encoding="gzip"
    )
    assert (await fetch.fetch(site.url("/z"))).text == "plain text"
    assert "accept-encoding: gzip, identity" in site.requests[-1].lower()


@law("TOOL-8.k")
async def test_g09_06_a_page_that_is_too_large_is_cut_and_says_so(site: Site, fetch: HttpFetch) -> None:
    bomb = gzip.compress(b"lagoon " * 10_000_000)
    site.answers["/bomb"] = answer(bomb, Content_Type="text/plain", Content_Encoding="gzip")
    found = await fetch.fetch(site.url("/bomb"))
    assert found.is_cut
    assert found.size_bytes == 200_000
    assert "response too large" in found.note
    site.answers["/big.pdf"] = answer(b"%PDF-1.7\n" + b"%" * 300_000)
    assert "larger than 200,000 bytes" in (await refusal(fetch, site.url("/big.pdf"))).detail
    site.answers["/nested"] = answer(b"x", Content_Encoding="gzip, gzip")
    assert (await refusal(fetch, site.url("/nested"))).code == "fetch_refused"


@law("TOOL-8.k")
async def test_the_time_limit_bounds_the_whole_fetch_however_slowly_it_drips(site: Site) -> None:
    finished = asyncio.Event()

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        try:
            while True:
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0)
        finally:
            finished.set()

    site.answers["/drip"] = drip
    hurried = HttpFetch(timeout_seconds=2, max_bytes=10**9, allow_hosts=(f"127.0.0.1:{site.port}",))
    error = await refusal(hurried, site.url("/drip"))
    await hurried.close()
    assert error.code == "fetch_failed"
    assert "2 seconds" in error.detail
    await asyncio.wait_for(finished.wait(), PATIENCE_SECONDS)


async def test_a_cancelled_fetch_leaves_no_connection(site: Site, fetch: HttpFetch) -> None:
    reached, dropped = asyncio.Event(), asyncio.Event()

    async def stall(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        reached.set()
        try:
            while True:
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0)
        finally:
            dropped.set()

    site.answers["/stall"] = stall
    task = asyncio.ensure_future(fetch.fetch(site.url("/stall")))
    await asyncio.wait_for(reached.wait(), PATIENCE_SECONDS)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(dropped.wait(), PATIENCE_SECONDS)


@law("TOOL-8.f")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed(site: Site, fetch: HttpFetch, status: int) -> None:
    site.answers["/old"] = answer(status=status, Location="/new?x=1")
    site.answers["/new?x=1"] = answer("arrived", Content_Type="text/plain")
    found = await fetch.fetch(site.url("/old"))
    assert (found.text, found.url) == ("arrived", site.url("/new?x=1"))


async def test_five_redirects_are_followed_and_no_more(site: Site, fetch: HttpFetch) -> None:
    for number in range(8):
        site.answers[f"/{number}"] = answer(status=302, Location=f"/{number + 1}")
    site.answers["/8"] = answer("arrived", Content_Type="text/plain")
    assert (await fetch.fetch(site.url("/3"))).text == "arrived"
    assert (await refusal(fetch, site.url("/2"))).code == "fetch_failed"


@law("TOOL-8.l")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/",
        "//127.0.0.1/",
        "http://127.0.0.1:{other}/",
        "http://localhost:{port}/",
        "http://user@127.0.0.1:{port}/",
        "http://[::ffff:127.0.0.1]/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://127.0.0.1:{port}\\@example.com/",
    ],
)
async def test_a_redirect_is_checked_like_the_first_address(
    site: Site, fetch: HttpFetch, status: int, target: str
) -> None:
    site.answers["/old"] = answer(status=status, Location=target.format(port=site.port, other=site.port + 1))
    error = await refusal(fetch, site.url("/old"))
    assert error.code == "fetch_refused"
    assert site.asked == ["/old"]


async def test_the_connection_goes_to_the_address_that_was_checked(site: Site) -> None:
    looked_up: list[str] = []

    async def flipping(host: str, port: int) -> list[str]:
        looked_up.append(host)
        return ["127.0.0.1"] if len(looked_up) < 3 else ["203.0.113.9"]

    fetch = HttpFetch(timeout_seconds=5, allow_hosts=(f"flip.test:{site.port}",), resolve=flipping)
    site.answers["/a"] = answer("once", Content_Type="text/plain")
    assert (await fetch.fetch(site.url("/a", "flip.test"))).text == "once"
    await fetch.close()
    # One look-up for the rules of the site and one for the page; nobody asked again between check and connection.
    assert looked_up == ["flip.test", "flip.test"]
    assert f"Host: flip.test:{site.port}".lower() in site.requests[-1].lower()


async def test_the_next_address_is_tried_when_one_cannot_be_connected_to(site: Site) -> None:
    async def two(host: str, port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    fetch = HttpFetch(timeout_seconds=5, allow_hosts=(f"two.test:{site.port}",), resolve=two)
    site.answers["/a"] = answer("second", Content_Type="text/plain")
    assert (await fetch.fetch(site.url("/a", "two.test"))).text == "second"
    await fetch.close()


async def test_tls_names_the_host_and_not_the_address() -> None:
    hello: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not hello.done():
            hello.set_result(await reader.read(4096))
        writer.close()

    async def here(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    fetch = HttpFetch(timeout_seconds=5, allow_hosts=(f"secure.test:{port}",), resolve=here)
    error = await refusal(fetch, f"https://secure.test:{port}/")
    await fetch.close()
    server.close()
    assert error.code == "fetch_failed"
    assert b"secure.test" in await hello


@law("TOOL-8.j")
async def test_what_robots_rules_forbid_is_not_read(site: Site, fetch: HttpFetch) -> None:
    site.answers["/robots.txt"] = answer("User-agent: *\nDisallow: /private\n", Content_Type="text/plain")
    site.answers["/private/a"] = answer("secret")
    site.answers["/open"] = answer("open", Content_Type="text/plain")
    site.answers["/leads"] = answer(status=302, Location="/private/a")
    assert (await fetch.fetch(site.url("/open"))).text == "open"
    for path in ("/private/a", "/leads"):
        error = await refusal(fetch, site.url(path))
        assert error.code == "fetch_refused"
        assert "robots.txt" in error.detail
    assert "/private/a" not in site.asked
    assert sum("GET /robots.txt" in request for request in site.requests) == 1


async def test_robots_rules_that_cannot_be_read_now_stop_the_fetch(site: Site, fetch: HttpFetch) -> None:
    site.answers["/robots.txt"] = answer(status=503)
    site.answers["/a"] = answer("a", Content_Type="text/plain")
    assert (await refusal(fetch, site.url("/a"))).code == "fetch_failed"
    site.answers["/robots.txt"] = answer(status=403)
    assert (await fetch.fetch(site.url("/a"))).text == "a"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (404, "not_found"),
        (410, "not_found"),
        (403, "fetch_failed"),
        (429, "fetch_failed"),
        (500, "fetch_failed"),
        (204, "fetch_failed"),
    ],
)
async def test_a_refusing_server_is_told_apart(site: Site, fetch: HttpFetch, status: int, code: str) -> None:
    site.answers["/a"] = answer(status=status)
    error = await refusal(fetch, site.url("/a"))
    assert error.code == code


async def test_a_server_that_breaks_off_is_a_failure(site: Site, fetch: HttpFetch) -> None:
    site.answers["/a"] = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"
    assert (await refusal(fetch, site.url("/a"))).code == "fetch_failed"
    site.answers["/b"] = b"this is not HTTP\r\n\r\n"
    assert (await refusal(fetch, site.url("/b"))).code == "fetch_failed"
    gone = HttpFetch(timeout_seconds=5, allow_hosts=("127.0.0.1:1",))
    assert (await refusal(gone, "http://127.0.0.1:1/")).code == "fetch_failed"
    await gone.close()
    await gone.close()


async def test_nothing_personal_is_sent(site: Site, fetch: HttpFetch) -> None:
    site.answers["/a"] = answer("a", Content_Type="text/plain", Set_Cookie="id=1; Path=/")
    await fetch.fetch(site.url("/a"))
    await fetch.fetch(site.url("/a"))
    assert not any(name in site.requests[-1].lower() for name in ("cookie:", "authorization:", "referer:"))
    assert "user-agent: outlast/" in site.requests[-1].lower()


class Echo:
    """Answers with the address it was asked for, and counts how often it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    async def fetch(self, url: str) -> Page:
        return Page(url, "", "", "text/plain", 0)

    async def close(self) -> None:
        self.closed += 1


async def test_the_scheme_decides_who_reads_an_address() -> None:
    corpus, http = Echo(), Echo()
    router = FetchRouter(corpus, http)
    assert (await router.fetch(" corpus://a.md\n")).url == "corpus://a.md"
    assert (await router.fetch("HTTPS://example.com/")).url == "HTTPS://example.com/"
    await router.close()
    assert (corpus.closed, http.closed) == (1, 1)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("https://example.com/", "offline"),
        ("file:///etc/passwd", "only http"),
        ("", "only http"),
        ("C:\\x", "only http"),
    ],
)
async def test_what_nobody_reads_is_refused_with_the_reason(address: str, reason: str) -> None:
    with pytest.raises(ToolTrouble) as caught:
        await FetchRouter(Echo(), None).fetch(address)
    assert caught.value.code == "fetch_refused"
    assert reason in caught.value.detail
