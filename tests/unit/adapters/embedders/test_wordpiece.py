"""Tokens as the model was trained on them."""

from outlast.adapters.embedders.offline.wordpiece import token_numbers

CLS, SEP, UNK = 101, 102, 100


def test_words_are_lowered_bared_of_accents_and_cut_into_known_pieces() -> None:
    # Source: BertTokenizer.from_pretrained("bert-base-uncased")
    assert token_numbers("Hello, World!", 32) == [CLS, 7592, 1010, 2088, 999, SEP]
    assert token_numbers("Café embeddings", 32) == [CLS, 7668, 7861, 8270, 4667, 2015, SEP]


def test_han_characters_and_signs_stand_alone() -> None:
    assert len(token_numbers("部署a_b", 32)) == 2 + 2 + 3


def test_what_the_vocabulary_cannot_spell_is_unknown() -> None:
    assert token_numbers("🙂", 32) == [CLS, UNK, SEP]
    assert token_numbers("x" * 101, 32) == [CLS, UNK, SEP]


def test_a_long_text_is_cut_and_still_ends() -> None:
    numbers = token_numbers("tide " * 9999, 256)
    assert len(numbers) == 256
    assert numbers[-1] == SEP
    assert token_numbers("", 256) == [CLS, SEP]
