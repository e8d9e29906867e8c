"""A small corpus with structure enough to be learned in a moment."""

import pytest
import torch

from course_lib.data import Corpus, Vocabulary
from course_lib.model import GPT, Config


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(11)


@pytest.fixture
def corpus() -> Corpus:
    text = "the cat sat on the mat. a dog ate the hat, and the cat ran to a tree.\n" * 60
    vocabulary = Vocabulary.of(text)
    tokens = vocabulary.encode(text)
    return Corpus("rhyme", text, vocabulary, {"train": tokens[:3600], "validation": tokens[3600:]})


@pytest.fixture
def build(corpus):
    """A fresh small GPT, the same each time, with settings changed at will."""

    def build_gpt(**changed) -> GPT:
        sizes = {"vocab_size": len(corpus.vocabulary), "block_size": 8, "n_layer": 1, "n_head": 2}
        torch.manual_seed(4)
        return GPT(Config(**{**sizes, "n_embd": 16, **changed}))

    return build_gpt
