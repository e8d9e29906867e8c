"""Counting gives probabilities, the right ones, and head starts that are worth having."""

import math
from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.counts import KneserNey, held_out
from benchmarks.init_from_counts import (
    count_bigram,
    count_head,
    count_heads,
    log_probabilities_after,
)
from course_lib.errors import ConfigError, CorpusTooShortError
from course_lib.model import Bigram, ManyHeads, OneHead
from course_lib.training import evaluate


def by_definition(text: list[int], V: int, order: int, context: list[int], symbol: int) -> float:
    """Modified Kneser–Ney as the paper writes it: one n-gram at a time, in dictionaries."""
    longest = Counter(tuple(text[i : i + order]) for i in range(len(text) - order + 1))
    counts = {order: longest}
    for n in range(order - 1, 0, -1):  # continuation counts: each longer n-gram counts once
        counts[n] = Counter(gram[1:] for gram in counts[n + 1])

    def discounts(n):
        of = Counter(counts[n].values())
        share = of[1] / max(1, of[1] + 2 * of[2])
        return [0.0] + [
            min(k, max(0.0, k - (k + 1) * share * of[k + 1] / of[k])) if of[k] else 0.0
            for k in (1, 2, 3)
        ]

    def probability(n, context):
        if n == 0:
            return 1 / V
        shorter = probability(n - 1, context[1:])
        here = {gram: c for gram, c in counts[n].items() if gram[:-1] == tuple(context)}
        if not here:
            return shorter
        d, total = discounts(n), sum(here.values())
        c = here.get((*context, symbol), 0)
        left = sum(d[min(value, 3)] for value in here.values())
        return (c - d[min(c, 3)]) / total + left / total * shorter

    usable = context[len(context) - min(order - 1, len(context)) :]
    return probability(len(usable) + 1, usable)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_counted_probabilities_are_kneser_neys(order, corpus):
    V = len(corpus.vocabulary)
    text = corpus.train[:400]
    model = KneserNey(text, V, order)
    window = corpus.validation[200:206]
    logs = model.log_probabilities(window.unsqueeze(0))[0]
    for t in range(6):
        for symbol in range(V):
            expected = by_definition(text.tolist(), V, order, window[: t + 1].tolist(), symbol)
            assert logs[t, symbol].item() == pytest.approx(math.log(max(expected, 1e-9)), abs=1e-4)


def test_a_context_that_the_window_cuts_off_is_not_taken_for_another():
    text = torch.randint(0, 3, (300,))  # every context of two occurs, also those with symbol 0
    logs = KneserNey(text, 3, 3).log_probabilities(torch.tensor([[1, 2]]))[0]
    for symbol in range(3):
        expected = by_definition(text.tolist(), 3, 3, [1], symbol)
        assert logs[0, symbol].exp().item() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("order", [1, 3, 6])
def test_every_row_is_a_distribution_even_after_what_was_never_seen(order, corpus):
    V = len(corpus.vocabulary) + 2  # two symbols that the text does not hold
    model = KneserNey(corpus.train, V, order)
    x = torch.randint(0, V, (4, 9))
    logs, loss = model(x, x)
    torch.testing.assert_close(logs.exp().sum(-1), torch.ones(4, 9))
    torch.testing.assert_close(loss, F.cross_entropy(logs.flatten(0, 1), x.flatten()))
    assert model(x)[1] is None


def test_counted_answers_do_not_change_when_the_future_or_the_far_past_does(corpus):
    model = KneserNey(corpus.train, len(corpus.vocabulary), 4)
    x = corpus.validation[:12].unsqueeze(0).clone()
    changed = x.clone()
    changed[0, 5] = (changed[0, 5] + 1) % len(corpus.vocabulary)
    same = (model.log_probabilities(x) == model.log_probabilities(changed)).all(-1)[0]
    assert same.tolist() == [True] * 5 + [False] * 3 + [True] * 4


def test_longer_contexts_help_a_text_that_repeats_itself(corpus):
    V = len(corpus.vocabulary)
    losses = [
        evaluate(_movable(KneserNey(corpus.train, V, n)), corpus.validation, 8, 5)
        for n in (1, 2, 4, 6)
    ]
    assert losses == sorted(losses, reverse=True)


def _movable(model: nn.Module) -> nn.Module:
    model.anchor = nn.Parameter(torch.zeros(1))  # evaluate asks the model where it is
    return model


def test_parts_are_counted_without_themselves(corpus):
    V = len(corpus.vocabulary)
    parts = held_out(corpus.train, V, 3, parts=3)
    assert torch.equal(torch.cat([part for part, _ in parts]), corpus.train)
    middle, counts = parts[1]
    others = KneserNey(torch.cat([corpus.train[:1200], corpus.train[2400:]]), V, 3)
    x = middle[:40].unsqueeze(0)
    torch.testing.assert_close(counts.log_probabilities(x), others.log_probabilities(x))
    with pytest.raises(ConfigError, match="parts = 1"):
        held_out(corpus.train, V, 3, parts=1)


@pytest.mark.parametrize("order", [0, 9])
def test_orders_outside_the_range_are_refused(order, corpus):
    with pytest.raises(ConfigError, match=f"order = {order}"):
        KneserNey(corpus.train, 65, order)


def test_a_text_without_a_single_n_gram_is_refused():
    with pytest.raises(CorpusTooShortError, match="N = 3 tokens"):
        KneserNey(torch.zeros(3, dtype=torch.int64), 5, 4)


def test_a_counted_bigram_is_where_its_gradient_vanishes(corpus):
    V = len(corpus.vocabulary)
    model = count_bigram(Bigram(V), corpus.train)
    logits, loss = model(corpus.train[:-1].unsqueeze(0), corpus.train[1:].unsqueeze(0))
    loss.backward()
    torch.testing.assert_close(logits.exp().sum(-1), torch.ones(1, len(corpus.train) - 1))
    assert model.table.weight.grad.abs().max() < 1e-3
    torch.testing.assert_close(model.table.weight.data, log_probabilities_after(corpus.train, V))


def test_a_head_start_brings_one_head_near_the_bigram_before_any_step(corpus):
    V = len(corpus.vocabulary)
    fresh = OneHead(V, 8, 24, 16)
    started = count_head(OneHead(V, 8, 24, 16), corpus.train, focus=6.0)
    bigram = evaluate(count_bigram(Bigram(V), corpus.train), corpus.validation, 8)
    reached = evaluate(started, corpus.validation, 8)
    assert reached < bigram + 0.3 < evaluate(fresh, corpus.validation, 8)
    own = started.head.weights(started.embedding(corpus.train[:8].unsqueeze(0)))[0].diagonal()
    assert own.min() > 0.5


def test_a_head_without_room_for_its_positions_is_refused(corpus):
    with pytest.raises(ConfigError, match="n_embd = 20, head_size = 16, block_size = 8"):
        count_head(OneHead(len(corpus.vocabulary), 8, 20, 16), corpus.train)


def test_a_head_start_brings_many_heads_near_the_bigram_before_any_step(corpus):
    V = len(corpus.vocabulary)
    all_here = count_heads(ManyHeads(V, 8, 32, 4), corpus.train, (0, 0, 0, 0), focus=6.0)
    bigram = evaluate(count_bigram(Bigram(V), corpus.train), corpus.validation, 8)
    fresh = evaluate(ManyHeads(V, 8, 32, 4), corpus.validation, 8)
    assert evaluate(all_here, corpus.validation, 8) < bigram + 0.3 < fresh
    spread = count_heads(ManyHeads(V, 8, 32, 4), corpus.train)
    assert evaluate(spread, corpus.validation, 8) < fresh - 0.5


@pytest.mark.parametrize("back", [(0, 0, 1, 2), (2, 1, 0, 0)])
def test_each_head_begins_with_the_symbol_that_it_is_told_to_look_at(corpus, back):
    model = count_heads(ManyHeads(len(corpus.vocabulary), 8, 32, 4), corpus.train, back, focus=6.0)
    x = model.embedding(corpus.train[:8].unsqueeze(0))
    for head, steps in zip(model.attention.heads, back, strict=True):
        where = head.weights(x)[0].argmax(-1)
        assert where.tolist() == [max(0, t - steps) for t in range(8)]


@pytest.mark.parametrize("back", [(0, 0, 1), (0, 0, 1, 3)])
def test_a_head_start_that_does_not_fit_the_heads_is_refused(corpus, back):
    with pytest.raises(ConfigError, match="one entry for each of 4 heads"):
        count_heads(ManyHeads(len(corpus.vocabulary), 8, 32, 4), corpus.train, back)


def test_heads_without_room_for_their_positions_are_refused(corpus):
    with pytest.raises(ConfigError, match="n_embd = 12, n_head = 4, block_size = 8"):
        count_heads(ManyHeads(len(corpus.vocabulary), 8, 12, 4), corpus.train)
