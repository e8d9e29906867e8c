"""The worked sentence gives the numbers that its module promises to the chapters."""

import math

import pytest
import torch

from course_lib import worked


def over_the_past(scores):
    future = torch.ones(4, 4, dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -torch.inf).softmax(dim=-1)


@pytest.fixture
def followed():
    """The noun at *itself* after each chapter's step, two decimals."""
    x = worked.embeddings()
    mean = torch.ones(4, 4).tril() / torch.arange(1.0, 5.0)[:, None] @ x
    matched = over_the_past(x @ x.T / math.sqrt(4)) @ x
    found = [
        over_the_past((x @ h.query) @ (x @ h.key).T / math.sqrt(2)) @ (x @ h.value)
        for h in worked.two_heads()
    ]
    added = x + torch.cat(found, dim=-1) @ worked.projection()
    normalized = torch.nn.functional.layer_norm(added, (4,))
    network = worked.feed_forward()
    hidden = (normalized @ network.widen + network.bias).relu()
    left = added + hidden @ network.narrow
    steps = [mean[3, 1], matched[3, 1], found[0][3, 0], (added - x)[3, 1]]
    steps += [added[3, 1], normalized[3, 1], left[3, 1]]
    return [f"{step:.2f}" for step in steps], hidden


def test_docstring_says_what_the_numbers_give(followed):
    numbers, _ = followed
    lines = [line.split("  ") for line in worked.__doc__.splitlines() if line[:2].isdigit()]
    said = " ".join(cells[-1] for cells in lines)
    assert numbers == ["0.75", "1.10", "1.65", "1.65", "2.65", "1.35", "2.65"]
    for number in numbers:
        assert number in said


def test_network_answers_only_where_noun_and_verb_were_found(followed):
    _, hidden = followed
    assert (hidden[:2] == 0).all()
    assert (hidden[2:] > 0).all()


def test_two_heads_offer_the_same_and_ask_for_different_things():
    first, second = worked.two_heads()
    assert torch.equal(first.key, second.key)
    assert not torch.equal(first.query, second.query)


def test_table_names_a_shape_that_does_not_fit():
    with pytest.raises(ValueError, match=r"\(4, 2\)"):
        worked.table(torch.zeros(4, 2))
    assert worked.table(torch.zeros(4, 2), ("noun", "verb")).count("0.00") == 8
