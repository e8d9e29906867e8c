"""Unlisted wrong answers to chapter 13."""

import math

import torch
from torch import nn
from torch.nn import functional as F

# 13/positions


def _waves(places, n_embd, base, real):
    speeds = base ** (-torch.arange(0, n_embd, 2) / n_embd)
    angles = places[:, :, None] * speeds
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2)
    return waves * real[:, :, None]


def places_from_the_end(tokens, n_embd, base):
    real = tokens != 0
    places = real.flip(1).cumsum(dim=1).flip(1) - 1
    return _waves(places, n_embd, base, real)


def words_only_to_the_first(tokens, n_embd, base):
    real = tokens != 0
    pad = (~real).sum(dim=1, keepdim=True)
    places = torch.arange(tokens.shape[1]) - pad.max()
    return _waves(places.clamp(min=0).expand_as(tokens), n_embd, base, real)


def padding_gets_place_zero(tokens, n_embd, base):
    real = tokens != 0
    places = (real.cumsum(dim=1) - 1).clamp(min=0)
    return _waves(places, n_embd, base, torch.ones_like(real))


def slow_waves_first(tokens, n_embd, base):
    real = tokens != 0
    places = real.cumsum(dim=1) - 1
    speeds = (base ** (-torch.arange(0, n_embd, 2) / n_embd)).flip(0)
    angles = places[:, :, None] * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(2) * real[:, :, None]


def places_as_shares(tokens, n_embd, base):
    real = tokens != 0
    places = (real.cumsum(dim=1) - 1) / real.sum(dim=1, keepdim=True).clamp(min=1)
    return _waves(places, n_embd, base, real)


# 13/masks


def _own(target):
    T = target.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    return past & target[:, :, None] & target[:, None, :] | torch.eye(T, dtype=torch.bool)


def _cross(source, target):
    return source[:, None, :].expand(*target.shape, source.shape[1])


def future_for_past(source, target):
    return _own(target).mT, _cross(source, target)


def padding_rows_see_everything(source, target):
    own = _own(target) | ~target[:, :, None]
    return own, _cross(source, target)


def cross_is_causal_too(source, target):
    cross = _cross(source, target)
    return _own(target), cross & torch.ones_like(cross).tril()


def target_by_target(source, target):
    return _own(target), target[:, :, None] & source[:, None, :]


def nobody_sees_itself(source, target):
    T = target.shape[1]
    itself = torch.eye(T, dtype=torch.bool)
    return _own(target) & ~(itself & target[:, :, None]), _cross(source, target)


# 13/cross-block


class Cross(nn.Module):
    """What the wrong answers share: the right one, with places to go wrong."""

    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def split(self, part):
        return part.unflatten(2, (self.n_head, -1)).transpose(1, 2)

    def scale(self, key):
        return math.sqrt(key.shape[-1])

    def ask(self, x):
        return self.query(self.norm(x))

    def weigh(self, scores, real):
        weights = scores.masked_fill(~real[:, None, None], -torch.inf).softmax(dim=-1)
        return weights.nan_to_num(0.0)

    def close(self, x, found):
        return x + self.projection(found)

    def forward(self, x, memory, real):
        query, key, value = map(self.split, (self.ask(x), self.key(memory), self.value(memory)))
        weights = self.weigh(query @ key.mT / self.scale(key), real)
        return self.close(x, (weights @ value).transpose(1, 2).flatten(2))


class SkipsTheNormed(Cross):
    def close(self, x, found):
        return self.norm(x) + self.projection(found)


class HalfOfEach(Cross):
    def close(self, x, found):
        return (x + self.projection(found)) / 2


class ScaledByHeads(Cross):
    def scale(self, key):
        return math.sqrt(self.n_head)


class SigmoidForSoftmax(Cross):
    def weigh(self, scores, real):
        return scores.sigmoid() * real[:, None, None]


class ActivatedResult(Cross):
    def close(self, x, found):
        return x + F.relu(self.projection(found))


# 13/teacher


def _rows(texts, pad, x, y):
    read = [torch.tensor(x(text)) for text in texts]
    wanted = [torch.tensor(y(text)) for text in texts]
    return (
        nn.utils.rnn.pad_sequence(read, batch_first=True, padding_value=pad),
        nn.utils.rnn.pad_sequence(wanted, batch_first=True, padding_value=-100),
    )


def ends_long_texts_too(texts, start, end, pad, longest):
    return _rows(
        texts,
        pad,
        lambda text: [start, *text[: longest - 1]],
        lambda text: [*text[: longest - 1], end],
    )


def keeps_the_last_words(texts, start, end, pad, longest):
    return _rows(
        texts,
        pad,
        lambda text: [start, *text, end][:-1][-longest:],
        lambda text: [*text, end][-longest:],
    )


def one_word_fewer(texts, start, end, pad, longest):
    return _rows(
        texts,
        pad,
        lambda text: [start, *text][: longest - 1],
        lambda text: [*text, end][: longest - 1],
    )


def starts_in_both(texts, start, end, pad, longest):
    return _rows(
        texts,
        pad,
        lambda text: [start, *text][:longest],
        lambda text: [start, *text][:longest],
    )


def padded_to_the_longest(texts, start, end, pad, longest):
    rows = [[start, *text, end] for text in texts]
    x = torch.full((len(texts), longest), pad)
    y = torch.full((len(texts), longest), -100)
    for n, row in enumerate(rows):
        read, wanted = row[:-1][:longest], row[1:][:longest]
        x[n, : len(read)], y[n, : len(wanted)] = torch.tensor(read), torch.tensor(wanted)
    return x, y


# 13/beam


def _search(
    log_probabilities, start, end, width, longest, power, *, score=None, total=None, choose=max
):
    live, finished = [([], 0.0)], []
    for _ in range(longest):
        x = torch.tensor([[start, *tokens] for tokens, _ in live])
        grown = [
            ([*tokens, token], total(sofar, gain) if total else sofar + gain)
            for (tokens, sofar), row in zip(live, log_probabilities(x).tolist(), strict=True)
            for token, gain in enumerate(row)
        ]
        kept = sorted(grown, key=lambda one: one[1], reverse=True)[:width]
        finished += [one for one in kept if one[0][-1] == end]
        live = [one for one in kept if one[0][-1] != end]
        if not live:
            break
    score = score or (lambda tokens, sofar: sofar / len(tokens) ** power)
    return choose(
        [(tokens, score(tokens, sofar)) for tokens, sofar in finished + live],
        key=lambda one: one[1],
    )


def length_multiplies(*given):
    *_, power = given
    return _search(*given, score=lambda tokens, total: total * len(tokens) ** power)


def worst_text(*given):
    return _search(*given, choose=min)


def probabilities_added(*given):
    return _search(*given, total=lambda sofar, gain: sofar + math.exp(gain))


def power_ignored(*given):
    return _search(*given, score=lambda tokens, total: total / len(tokens))


def greedy(log_probabilities, start, end, width, longest, power):
    return _search(log_probabilities, start, end, 1, longest, power)


# 13/alignment


def _chosen(weights, links, real):
    best = weights.masked_fill(~real[:, None, None], -1.0).argmax(dim=-1)
    return (F.one_hot(best, weights.shape[-1]).bool() & links[:, None]).any(dim=-1)


def mean_of_the_samples_shares(weights, links, real):
    right = _chosen(weights, links, real).float()
    counted = links.any(dim=-1)[:, None]
    share = (right * counted).sum(dim=2) / counted.sum(dim=2).clamp(min=1)
    return share[links.any(dim=(1, 2))].mean(dim=0)


def weight_on_the_links(weights, links, real):
    inside = (weights * links[:, None] * real[:, None, None]).sum(dim=(0, 2, 3))
    return inside / links.any(dim=-1).sum()


def over_half_of_the_weight(weights, links, real):
    inside = (weights * links[:, None]).sum(dim=-1) > 0.5
    return inside.sum(dim=(0, 2)) / links.any(dim=-1).sum()


def one_of_the_two_best(weights, links, real):
    masked = weights.masked_fill(~real[:, None, None], -1.0)
    best = masked.topk(min(2, masked.shape[-1]), dim=-1).indices
    hits = links[:, None].expand(weights.shape).gather(-1, best).any(dim=-1)
    return hits.sum(dim=(0, 2)) / links.any(dim=-1).sum()


def best_word_of_each_source_word(weights, links, real):
    best = weights.argmax(dim=2)  # (B, H, S)
    hits = links[:, None].expand(weights.shape).gather(2, best[:, :, None])[:, :, 0]
    counted = (links.any(dim=1) & real)[:, None]
    return (hits & counted).sum(dim=(0, 2)) / counted.sum()


# 13/longer


def _errors(table, shift, trained, fit, error):
    before, after = table[:-shift], table[shift:]
    out = []
    for n in trained:
        known = n - shift
        M = fit(before[:known], after[:known])
        out.append(error(before, after, M, known))
    return out


def _pinv(a, b):
    return torch.linalg.pinv(a) @ b


def _beyond(before, after, M, known):
    return (before[known:] @ M - after[known:]).square().mean().sqrt().item()


def error_within(table, shift, trained):
    return _errors(
        table,
        shift,
        trained,
        _pinv,
        lambda b, a, M, n: (b[:n] @ M - a[:n]).square().mean().sqrt().item(),
    )


def largest_gap(table, shift, trained):
    return _errors(
        table, shift, trained, _pinv, lambda b, a, M, n: (b[n:] @ M - a[n:]).abs().max().item()
    )


def backwards(table, shift, trained):
    return _errors(
        table,
        shift,
        trained,
        lambda a, b: _pinv(b, a),
        lambda b, a, M, n: (a[n:] @ M - b[n:]).square().mean().sqrt().item(),
    )


def first_pair_left_out(table, shift, trained):
    return _errors(table, shift, trained, lambda a, b: _pinv(a[1:], b[1:]), _beyond)


def relative_error(table, shift, trained):
    return _errors(
        table,
        shift,
        trained,
        _pinv,
        lambda b, a, M, n: ((b[n:] @ M - a[n:]).norm() / a[n:].norm()).item(),
    )


WRITTEN = {
    "13/positions": [
        places_from_the_end,
        words_only_to_the_first,
        padding_gets_place_zero,
        slow_waves_first,
        places_as_shares,
    ],
    "13/masks": [
        future_for_past,
        padding_rows_see_everything,
        cross_is_causal_too,
        target_by_target,
        nobody_sees_itself,
    ],
    "13/cross-block": [
        SkipsTheNormed,
        HalfOfEach,
        ScaledByHeads,
        SigmoidForSoftmax,
        ActivatedResult,
    ],
    "13/teacher": [
        ends_long_texts_too,
        keeps_the_last_words,
        one_word_fewer,
        starts_in_both,
        padded_to_the_longest,
    ],
    "13/beam": [length_multiplies, worst_text, probabilities_added, power_ignored, greedy],
    "13/alignment": [
        mean_of_the_samples_shares,
        weight_on_the_links,
        over_half_of_the_weight,
        one_of_the_two_best,
        best_word_of_each_source_word,
    ],
    "13/longer": [error_within, largest_gap, backwards, first_pair_left_out, relative_error],
}

ASIDE = ()
