"""Long text is cut to what may be shown, at characters, with the true size."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.domain.bounded import LEAST_LIMIT_BYTES, SHOWN_BYTES, bound
from tests.law import law

DIGEST = "a" * 64


def test_text_within_the_limit_is_shown_as_it_is() -> None:
    text = "é" * (SHOWN_BYTES // 2)
    assert bound(text) == bound(text, digest=DIGEST)
    assert (bound(text).shown, bound(text).is_cut, bound(text).size_bytes) == (text, False, SHOWN_BYTES)


@law("TOOL-4.b")
def test_cut_text_keeps_head_and_tail_and_says_how_to_read_on() -> None:
    text = "first " + "x" * 100_000 + " last"
    cut = bound(text, digest=DIGEST)
    assert cut.is_cut
    assert cut.size_bytes == len(text)
    assert cut.shown.startswith("first ")
    assert cut.shown.endswith(" last")
    note = re.search(
        r"\[\.\.\. (\d+) of 100011 bytes are left out here; read on with (.*) \.\.\.]", cut.shown
    )
    assert note is not None
    head = cut.shown.index("\n[...")
    assert note[2] == f'read_artifact(digest="{DIGEST}", offset={head})'
    assert int(note[1]) == len(text) - head - (len(cut.shown) - cut.shown.index("...]\n") - 5)


@given(st.text(min_size=150, max_size=3000), st.integers(LEAST_LIMIT_BYTES, 2000), st.booleans())
def test_shown_text_keeps_the_limit_and_splits_no_character(
    text: str, limit_bytes: int, with_digest: bool
) -> None:
    cut = bound(text, limit_bytes, DIGEST if with_digest else None)
    assert len(cut.shown.encode()) <= limit_bytes
    assert cut.shown.count("\ufffd") <= text.count("\ufffd")
    assert cut.is_cut == (cut.size_bytes > limit_bytes)


def test_lone_surrogates_are_replaced() -> None:
    assert bound("a\ud800b").shown == "a\ufffdb"


def test_limit_too_small_for_the_note_is_refused() -> None:
    with pytest.raises(ValueError, match="the least is"):
        bound("x", LEAST_LIMIT_BYTES - 1)
