"""Bodies are decoded within bounds."""

import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.adapters.search.web.bodies import read_body
from outlast.domain.errors import ToolTrouble
from tests.law import law


async def pieces(data: bytes, size: int = 1000) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def zeros_zipped(mebibytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(mebibytes)) + packer.flush()


@law("TOOL-8.k")
async def test_g09_06_a_bomb_is_stopped_at_the_cap_of_decoded_bytes() -> None:
    bomb = zeros_zipped(200)
    assert len(bomb) < 300_000
    tracemalloc.start()
    body, is_cut = await read_body(pieces(bomb, 65536), "gzip", 1 << 20)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(body), is_cut) == (1 << 20, True)
    assert peak_bytes < 4 << 20


@pytest.mark.parametrize(
    "encoding", ["gzip, gzip", "br", "zstd", "deflate", "gzip, br", "compress", "nonsense"]
)
async def test_g09_06_encodings_that_were_not_asked_for_are_refused(encoding: str) -> None:
    with pytest.raises(ToolTrouble) as caught:
        await read_body(pieces(b"x"), encoding, 100)
    assert caught.value.code == "fetch_refused"


async def test_a_body_is_cut_at_the_cap_and_says_so() -> None:
    assert await read_body(pieces(b"abcdef", 2), "", 4) == (b"abcd", True)
    assert await read_body(pieces(b"abcd", 2), "identity", 4) == (b"abcd", False)


@settings(max_examples=50)
@given(
    data=st.binary(max_size=5000).map(lambda text: text * 7),
    step=st.integers(1, 400),
    members=st.integers(1, 3),
    limit=st.integers(1, 60_000),
)
async def test_what_was_zipped_comes_back_up_to_the_cap(
    data: bytes, step: int, members: int, limit: int
) -> None:
    zipped = gzip.compress(data) * members
    whole = data * members
    body, is_cut = await read_body(pieces(zipped, step), "gzip", limit)
    assert whole.startswith(body)
    if not is_cut:
        assert body == whole
    else:
        assert len(whole) > limit or len(zipped) > limit


@pytest.mark.parametrize("size", [65_536, 131_072, 500_000, 3_000_001])
async def test_nothing_is_left_behind_in_the_decoder(size: int) -> None:
    text = b"a" * size
    assert await read_body(pieces(gzip.compress(text), 100_000), "gzip", 1 << 23) == (text, False)


async def test_padding_after_the_end_is_ignored() -> None:
    assert await read_body(pieces(gzip.compress(b"text") + bytes(20)), "gzip", 100) == (b"text", False)


@pytest.mark.parametrize("damage", [b"not gzip at all", gzip.compress(b"text " * 1000, mtime=0)[:-20]])
async def test_a_damaged_or_broken_off_body_is_a_failure(damage: bytes) -> None:
    with pytest.raises(ToolTrouble) as caught:
        await read_body(pieces(damage), "gzip", 10_000)
    assert caught.value.code == "fetch_failed"
