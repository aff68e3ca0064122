"""A page is cut into passages: in order, bounded, nothing lost between them."""

from hypothesis import given
from hypothesis import strategies as st

from outlast.runs.remembering.passages import MOST_PASSAGES, PASSAGE_CHARACTERS, passages_of


@given(st.text(max_size=6000))
def test_passages_are_bounded_and_hold_every_word_in_order(text: str) -> None:
    passages = passages_of(text)
    assert all(0 < len(passage) <= PASSAGE_CHARACTERS for passage in passages)
    assert "".join("".join(passages).split()) == "".join(text.split())


def test_short_paragraphs_stay_together_and_long_ones_end_after_a_sentence() -> None:
    assert passages_of("One.\n\nTwo.") == ["One.\n\nTwo."]
    sentence = "This is a sentence of some words. "
    first, *_ = passages_of(sentence * 60)
    assert first.endswith("words.")


def test_text_without_spaces_is_cut_after_its_full_stops() -> None:
    first, *_ = passages_of("部署窗口改到周四晚上。" * 200)
    assert first.endswith("。")


def test_of_a_very_long_page_the_beginning_is_taken() -> None:
    assert len(passages_of(("word " * 180 + "\n\n") * 500)) == MOST_PASSAGES
