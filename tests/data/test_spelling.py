"""Names as text: reshuffled, in rows of their own, written to their end and counted."""

from collections import Counter

import pytest
import torch
from torch import nn

from course_lib import data
from course_lib.errors import ConfigError, CorpusTooShortError, ShapeError
from course_lib.spelling import name_rows, reshuffled, spell_names, write_new

NAMES = ["ann", "bo", "cleo", "dan", "eve", "finn", "gus", "hal", "ida", "jon", "kay", "bo"]


@pytest.fixture(scope="module")
def corpus():
    return data.of_names("few", NAMES)


class Always(nn.Module):
    """Says the same whatever it reads: boundary 0.3, and the other symbols alike."""

    block_size = 3

    def __init__(self, V, certain=None):
        super().__init__()
        p = torch.full((V,), 0.7 / (V - 1))
        p[0] = 0.3
        if certain is not None:
            p = torch.full((V,), 1e-6)
            p[certain] = 1.0
        self.register_buffer("logits", p.log())
        self.longest_read = 0
        self.modes = set()

    def forward(self, tokens, targets=None):
        self.longest_read = max(self.longest_read, tokens.shape[1])
        self.modes.add(self.training)
        return self.logits.expand(*tokens.shape, -1), None


def names_of(tokens, corpus):
    """What stands between the boundaries of a split."""
    return corpus.vocabulary.decode(tokens).strip(".").split(".")


def test_each_distinct_name_is_in_one_split_as_often_as_it_is_listed(corpus):
    splits = [names_of(tokens, corpus) for tokens in corpus.splits.values()]
    assert Counter(name for split in splits for name in split) == Counter(NAMES)
    for i, one in enumerate(splits):
        assert not any(set(one) & set(other) for other in splits[i + 1 :])


@pytest.mark.parametrize("odd", ["a.b", ""])
def test_list_with_a_word_that_is_no_name_is_refused(odd):
    with pytest.raises(ValueError, match="is no name"):
        data.of_names("few", [*NAMES, odd])


def test_reshuffling_keeps_every_name_and_both_ends(corpus):
    tokens = corpus.vocabulary.encode("." + ".".join(NAMES) + ".")
    kept = tokens.clone()
    mixed = reshuffled(tokens, generator=torch.Generator().manual_seed(0))
    names = names_of(mixed, corpus)
    assert Counter(names) == Counter(NAMES)
    assert names != NAMES
    assert mixed[0] == mixed[-1] == 0
    assert torch.equal(tokens, kept)
    again = reshuffled(tokens, generator=torch.Generator().manual_seed(0))
    assert torch.equal(mixed, again)


def test_text_without_a_name_cannot_be_reshuffled():
    with pytest.raises(CorpusTooShortError):
        reshuffled(torch.tensor([0]))


def test_rows_hold_a_name_its_end_and_nothing_that_counts_after_it(corpus):
    tokens = corpus.vocabulary.encode(".bo.cleo.")
    x, y = name_rows(tokens, block_size=6)
    b, o = corpus.vocabulary.encode("bo").tolist()
    assert x[0].tolist() == [0, b, o, 0, 0, 0]
    assert y[0].tolist() == [b, o, 0, -100, -100, -100]
    assert (y >= 0).sum() == len(tokens) - 1
    with pytest.raises(ShapeError, match="choose at least 5"):
        name_rows(tokens, block_size=4)


def test_spelled_names_have_prefix_length_and_no_boundary(corpus):
    model = Always(len(corpus.vocabulary)).train()
    generator = torch.Generator().manual_seed(0)
    for length in (None, 3, 7):
        names = spell_names(
            model, corpus.vocabulary, 40, prefix="bo", length=length, generator=generator
        )
        assert len(names) == 40
        assert all(name.startswith("bo") and "." not in name for name in names)
        assert length is None or {len(name) for name in names} == {length}
    assert model.longest_read == model.block_size
    assert model.modes == {False}
    assert model.training


def test_names_that_never_end_are_cut(corpus):
    model = Always(len(corpus.vocabulary), certain=3)
    assert {len(n) for n in spell_names(model, corpus.vocabulary, 5, longest=9)} == {9}


@pytest.mark.parametrize("wrong", [{"count": 0}, {"count": 3, "prefix": "anna", "length": 3},
                                   {"count": 3, "longest": 0}])  # fmt: skip
def test_impossible_names_are_refused(corpus, wrong):
    with pytest.raises(ConfigError):
        spell_names(Always(len(corpus.vocabulary)), corpus.vocabulary, **wrong)


def test_new_names_are_new_and_every_draw_is_accounted_for(corpus):
    generator = torch.Generator().manual_seed(0)
    model = Always(len(corpus.vocabulary))
    symbols = corpus.vocabulary.symbols[1:]
    known = set(symbols[:8])
    written = write_new(model, corpus.vocabulary, 60, known, generator=generator)
    assert len(written.names) == len(set(written.names)) == 60
    assert not known & set(written.names)
    assert written.copied > 0
    assert written.drawn >= 60 + written.copied + written.repeated
    assert written.novelty == 1 - written.copied / written.drawn


def test_model_that_only_copies_stops_with_nothing(corpus):
    model = Always(len(corpus.vocabulary), certain=1)
    symbol = corpus.vocabulary.symbols[1]
    written = write_new(model, corpus.vocabulary, 5, {symbol * 2}, length=2, most=20)
    assert (written.names, written.drawn, written.copied) == ((), 20, 20)
