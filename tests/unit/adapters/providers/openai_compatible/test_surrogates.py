"""Halves of characters."""

from hypothesis import given
from hypothesis import strategies as st

from outlast.adapters.providers.openai_compatible.surrogates import HalfKeeper, joined

ANY_TEXT = st.text(st.characters() | st.sampled_from("\ud83d\ude42\ud800\udfff"))


def test_halves_in_two_pieces_become_one_character() -> None:
    keeper = HalfKeeper()
    assert [keeper.take("a\ud83d"), keeper.take("\ude42b"), keeper.rest()] == ["a", "🙂b", ""]


def test_a_half_left_alone_is_replaced() -> None:
    keeper = HalfKeeper()
    assert [keeper.take("a\ud83d"), keeper.take("\ude42\ude42"), keeper.take("\ud83d"), keeper.rest()] == [
        "a",
        "🙂\ufffd",
        "",
        "\ufffd",
    ]


@given(st.lists(ANY_TEXT))
def test_pieces_add_up_to_the_joined_text_and_can_be_encoded(pieces: list[str]) -> None:
    keeper = HalfKeeper()
    given_on = "".join(map(keeper.take, pieces)) + keeper.rest()
    assert given_on == joined("".join(pieces))
    given_on.encode()
