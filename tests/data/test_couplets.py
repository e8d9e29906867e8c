"""Couplets and their plain form: every line of the play has one, and links say what made what."""

from random import Random

import pytest

from course_lib.data.play import couplets, grammar
from course_lib.data.play.couplets import couplet, text_of


@pytest.fixture(scope="module")
def pairs():
    return [couplet(Random(seed)) for seed in range(200)]


@pytest.mark.parametrize(
    ("table", "rule"), [(couplets.FIRST, "couplet"), (couplets.SECOND, "second")]
)
def test_every_line_of_the_play_has_a_plain_form(table, rule):
    assert set(table) == {option.split(",\n")[0] for _, option in grammar.rules()[rule]}


def test_drawn_words_are_copied_from_where_the_link_leads(pairs):
    for pair in pairs:
        assert len(pair.target) == len(pair.links) == len(pair.drawn)
        for word, link, is_drawn in zip(pair.target, pair.links, pair.drawn, strict=True):
            if is_drawn:
                assert pair.source[link] == word


def test_plain_form_has_another_order_and_other_words(pairs):
    for pair in pairs:
        linked = [link for link in pair.links if link is not None]
        assert linked != sorted(linked)
    assert any(link is None for pair in pairs for link in pair.links)  # a new word
    assert any(set(range(len(pair.source))) - set(pair.links) for pair in pairs)  # one that is gone


def test_same_seed_gives_the_same_couplet():
    assert couplet(Random(3)) == couplet(Random(3)) != couplet(Random(4))


def test_text_joins_endings_hyphens_and_marks():
    words = ["mad", "K", "the", "goat", "-", "Kisser", "adorn", "-ed", "it", ",", "too", "."]
    assert text_of(words) == "mad K the goat-Kisser adorned it, too."
