"""Promises of the vocabulary."""

import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.data import Vocabulary
from course_lib.errors import ShapeError, UnknownSymbolError

TEXTS = st.text(min_size=1)
ODD_TEXTS = st.text(st.sampled_from("ab\n\r\t\0é😀\u200b\ud800\U0010ffff"), min_size=1)


@given(TEXTS | ODD_TEXTS)
def test_decode_undoes_encode_for_every_text(text):
    vocabulary = Vocabulary.of(text)
    tokens = vocabulary.encode(text)
    assert vocabulary.decode(tokens) == text
    assert tokens.dtype == torch.int64
    assert tokens.shape == (len(text),)


@given(TEXTS | ODD_TEXTS)
def test_tokens_are_places_among_the_sorted_symbols(text):
    vocabulary = Vocabulary.of(text)
    assert vocabulary.symbols == tuple(sorted(set(text)))
    assert len(vocabulary) == len(set(text))
    assert vocabulary.encode(text).tolist() == [vocabulary.symbols.index(c) for c in text]


def test_symbols_may_be_given_in_any_order_and_form():
    assert Vocabulary("cab") == Vocabulary(["b", "a", "c"]) == Vocabulary.of("abcabc")
    assert hash(Vocabulary("cab")) == hash(Vocabulary("abc"))
    assert Vocabulary("ab") != Vocabulary("abc")
    assert "a" in Vocabulary("ab")
    assert "c" not in Vocabulary("ab")


@given(st.text("ab\n"), st.sampled_from("\0cé😀\U0010ffff"), st.text("ab\n😀"))
def test_first_unknown_symbol_is_named_with_its_position_and_the_number_of_others(head, bad, tail):
    more = tail.count("😀")
    text = head + bad + tail
    with pytest.raises(UnknownSymbolError) as caught:
        Vocabulary("ab\n").encode(text)
    message = str(caught.value)
    lines = head.split("\n")
    assert f"symbol {bad!r} (U+{ord(bad):04X}" in message
    assert f"at position {len(head)} (line {len(lines)}, column {len(lines[-1]) + 1})" in message
    assert (f"; {more} more unknown symbol" in message) == (more > 0)


def test_unknown_symbol_above_all_known_code_points_is_not_taken_for_a_known_one():
    vocabulary = Vocabulary("az")
    for symbol in ("{", "é", "😀", "\U0010ffff"):  # the first is the one right after "z"
        with pytest.raises(UnknownSymbolError, match="position 1 "):
            vocabulary.encode(f"a{symbol}z")


def test_an_invisible_symbol_is_named_in_words():
    with pytest.raises(UnknownSymbolError, match="ZERO WIDTH SPACE"):
        Vocabulary("ab").encode("a\u200bb")


@pytest.mark.parametrize("bad", [-1, 3, 2**40])
def test_token_outside_the_vocabulary_is_named_with_its_position(bad):
    with pytest.raises(
        UnknownSymbolError, match=rf"token {bad} at position 2 .* between 0 and 2; 1 mo"
    ):
        Vocabulary("abc").decode([0, 1, bad, 99, 2])


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        torch.tensor,
        lambda t: torch.tensor(t).to(torch.uint8),
        lambda t: np.array(t, np.int32),
    ],
)
def test_tokens_to_decode_come_in_any_form(make):
    assert Vocabulary("abc").decode(make([2, 0, 1])) == "cab"


def test_nothing_encodes_to_nothing_and_back():
    vocabulary = Vocabulary("abc")
    assert vocabulary.encode("").shape == (0,)
    assert vocabulary.encode("").dtype == torch.int64
    assert vocabulary.decode([]) == ""
    assert vocabulary.decode(vocabulary.encode("")) == ""


def test_a_batch_is_not_decoded_as_if_it_were_one_text():
    with pytest.raises(ShapeError, match=r"\(2, 3\)"):
        Vocabulary("abc").decode(torch.zeros(2, 3, dtype=torch.int64))
    with pytest.raises(ShapeError, match=r"\[t\]"):
        Vocabulary("abc").decode(torch.tensor(1))


@pytest.mark.parametrize("tokens", [[0.0, 1.0], torch.zeros(3), [True, False], ["a"]])
def test_what_is_not_a_whole_number_is_not_decoded(tokens):
    with pytest.raises(TypeError, match="whole numbers"):
        Vocabulary("abc").decode(tokens)


def test_a_symbol_is_one_character():
    with pytest.raises(ValueError, match="'ab' of length 2"):
        Vocabulary(["c", "ab"])
    with pytest.raises(ValueError, match="at least one"):
        Vocabulary("")


def test_encoded_tokens_belong_to_the_caller():
    vocabulary = Vocabulary("abc")
    tokens = vocabulary.encode("abc")
    tokens.zero_()
    assert vocabulary.encode("abc").tolist() == [0, 1, 2]
    assert vocabulary.decode([0, 1, 2]) == "abc"


def test_a_vocabulary_survives_the_way_to_another_process():
    vocabulary = pickle.loads(pickle.dumps(Vocabulary("abc😀")))
    assert vocabulary == Vocabulary("abc😀")
    assert vocabulary.decode(vocabulary.encode("😀cab")) == "😀cab"


def test_representation_shows_the_symbols():
    assert repr(Vocabulary("ab\n")) == r"Vocabulary(3 symbols: '\nab')"
