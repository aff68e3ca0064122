"""A conversation as it stands is seen without a copy, and never changes under whoever sees it."""

import pytest

from outlast.domain.message import Message, Messages

FIRST, SECOND, THIRD = (Message("user", text) for text in ("one", "two", "three"))


def test_messages_stay_as_they_were_while_the_list_grows() -> None:
    growing = [FIRST, SECOND]
    seen = Messages(growing)
    growing.append(THIRD)
    assert list(seen) == [FIRST, SECOND]
    assert len(seen) == 2
    assert THIRD not in seen
    assert list(reversed(seen)) == [SECOND, FIRST]


def test_messages_are_reached_by_index_and_slice_within_their_own_bounds() -> None:
    seen = Messages([FIRST, SECOND, THIRD][:2])
    assert seen[-1] == SECOND
    assert seen[1:] == (SECOND,)
    assert seen[::-1] == (SECOND, FIRST)
    with pytest.raises(IndexError):
        seen[2]


def test_messages_equal_any_sequence_of_the_same_and_hash_alike() -> None:
    seen = Messages([FIRST, SECOND])
    assert seen == (FIRST, SECOND)
    assert seen != (FIRST, THIRD)
    assert seen != (FIRST,)
    assert hash(seen) == hash((FIRST, SECOND))
    assert repr(seen) == repr((FIRST, SECOND))
