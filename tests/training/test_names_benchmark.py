"""Rows of names, one a sample, as the benchmark of published losses trains on them."""

import torch

from benchmarks.names import batches_of_rows, names_of
from course_lib.data import Vocabulary
from course_lib.spelling import name_rows


def test_rows_of_a_batch_are_cut_to_the_longest():
    tokens = Vocabulary(".adf").encode(".ad.adf.adfadf.")
    rows = name_rows(tokens, 12)
    x, y, first = next(batches_of_rows(*rows, 64, torch.Generator().manual_seed(0)))
    assert first
    assert x.shape == y.shape == (64, 7)


def test_names_of_a_split_stand_between_its_boundaries():
    vocabulary = Vocabulary(".adf")
    assert names_of(vocabulary.encode(".ad.adf.fad."), vocabulary) == ["ad", "adf", "fad"]
