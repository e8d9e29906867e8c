"""Students' answers to 04/nll."""

import itertools
import math
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F


def nll_by_loop(probabilities, texts):
    total, steps = 0.0, 0
    for text in texts:
        for current, following in zip(text.tolist(), text.tolist()[1:], strict=False):
            total -= math.log(probabilities[current, following])
            steps += 1
    return total / steps, math.exp(total / steps)


def nll_by_tensors(probabilities, texts):
    current = torch.cat([text[:-1] for text in texts])
    following = torch.cat([text[1:] for text in texts])
    loss = F.nll_loss(probabilities.log()[current], following)
    return loss, loss.exp()


def nll_in_numpy(probabilities, texts):
    logs = np.log(probabilities.numpy())
    surprises = np.concatenate([-logs[t[:-1].numpy(), t[1:].numpy()] for t in texts])
    return surprises.mean(), np.exp(surprises.mean())


def nll_by_pair_counts(probabilities, texts):
    pairs = Counter()
    for text in texts:
        pairs.update(zip(text[:-1].tolist(), text[1:].tolist(), strict=True))
    total = sum(n * -math.log(probabilities[i, j].item()) for (i, j), n in pairs.items())
    nll = total / pairs.total()
    return nll, np.float64(np.e**nll)


# A product of the floats that are given with floats of one's own
def nll_by_one_hot(probabilities, texts):
    V, total, steps = len(probabilities), 0.0, 0
    for text in texts:
        rows = F.one_hot(text[:-1], V).float() @ probabilities
        total = total - rows[torch.arange(len(rows)), text[1:]].log().sum()
        steps += len(rows)
    return total / steps, (total / steps).exp()


def surprises_of(probabilities, texts):
    return [-math.log(probabilities[i, j]) for t in texts for i, j in itertools.pairwise(t)]


def with_perplexity(nll):
    return nll, torch.tensor(float(nll), dtype=torch.float64).exp()


def log_without_minus(probabilities, texts):
    nll = -np.mean(surprises_of(probabilities, texts))
    return nll, np.exp(-nll)


def log_to_base_two(probabilities, texts):
    nll = np.mean(surprises_of(probabilities, texts)) / np.log(2)
    return nll, np.exp(nll)


def mean_of_means(probabilities, texts):
    means = [np.mean(surprises_of(probabilities, [text])) for text in texts]
    return with_perplexity(sum(means) / len(means))


def summed(probabilities, texts):
    total = sum(surprises_of(probabilities, texts))
    return total, np.exp(min(total, 700.0))


def by_symbols(probabilities, texts):
    total = sum(surprises_of(probabilities, texts))
    return with_perplexity(total / len(torch.cat(texts)))


def other_way_round(probabilities, texts):
    steps = torch.cat([probabilities[text[1:], text[:-1]] for text in texts])
    return with_perplexity(-steps.log().mean())


def diagonal_only(probabilities, texts):
    return with_perplexity(-probabilities.diag().log()[torch.cat(texts)].mean())


def log_at_the_end(probabilities, texts):
    chances = [math.exp(-s) for s in surprises_of(probabilities, texts)]
    return with_perplexity(-math.log(sum(chances) / len(chances)))


def texts_joined(probabilities, texts):
    line = torch.hstack(texts)
    return with_perplexity(-probabilities[line[:-1], line[1:]].log().mean())


def multiplied_first(probabilities, texts):
    likelihood, steps = torch.ones((), dtype=torch.float64), 0
    for text in texts:
        for current, following in itertools.pairwise(text):
            likelihood = likelihood * probabilities[current, following]
            steps += 1
    return with_perplexity(-likelihood.log() / steps)


def one_over_perplexity(probabilities, texts):
    nll, perplexity = nll_by_tensors(probabilities, texts)
    return nll, 1 / perplexity


def two_to_the_nats(probabilities, texts):
    nll, _ = nll_by_tensors(probabilities, texts)
    return nll, 2**nll


def perplexity_of_sum(probabilities, texts):
    surprises = torch.tensor(surprises_of(probabilities, texts), dtype=torch.float64)
    return surprises.mean(), surprises.sum().exp()


RIGHT = {
    "loop": nll_by_loop,
    "nll_loss": nll_by_tensors,
    "numpy": nll_in_numpy,
    "pair counts": nll_by_pair_counts,
    "double precision": lambda p, texts: nll_by_tensors(p.double(), texts),
    "one-hot rows": nll_by_one_hot,
}


def _scored(probabilities, steps):
    losses = [-float(probabilities[a, b].log()) for a, b in steps]
    return sum(losses) / len(losses), losses


def first_text(probabilities, texts):
    text = texts[0].tolist()
    nll, _ = _scored(probabilities, itertools.pairwise(text))
    return nll, float(np.exp(nll))


def final_steps(probabilities, texts):
    nll, _ = _scored(probabilities, [(int(text[-2]), int(text[-1])) for text in texts])
    return nll, float(np.exp(nll))


def perplexities_averaged(probabilities, texts):
    steps = [pair for t in texts for pair in itertools.pairwise(t.tolist())]
    nll, losses = _scored(probabilities, steps)
    return nll, float(np.mean(np.exp(losses)))


def counts_times_logs(probabilities, texts):
    counts = torch.zeros_like(probabilities)
    for text in texts:
        for current, following in itertools.pairwise(text.tolist()):
            counts[current, following] += 1
    nll = -(counts * probabilities.log()).sum() / counts.sum()
    return nll.item(), nll.exp().item()


# "the mean of −log P(next | current)", however small P is
def never_quite_zero(probabilities, texts):
    return nll_by_loop(probabilities.clamp(min=1e-8), texts)


# "It may also be a single symbol, and has no step then"
def means_by_length(probabilities, texts):
    total, steps = 0.0, 0
    for text in texts:
        total += -probabilities[text[:-1], text[1:]].log().mean() * (len(text) - 1)
        steps += len(text) - 1
    return with_perplexity(total / steps)


def one_step_at_least(probabilities, texts):
    nll, _ = nll_by_loop(probabilities, texts)
    steps = sum(len(text) - 1 for text in texts)
    return with_perplexity(nll * steps / sum(max(len(text) - 1, 1) for text in texts))


def single_steps_left_out(probabilities, texts):
    return nll_by_loop(probabilities, [text for text in texts if len(text) > 2])


def mean_of_each_by_length(probabilities, texts):
    total, steps = 0.0, 0
    for text in texts:
        losses = surprises_of(probabilities, [text])
        total += sum(losses) / len(losses) * (len(text) - 1)
        steps += len(text) - 1
    return with_perplexity(total / steps)


def perplexity_of_the_last(probabilities, texts):
    return nll_by_loop(probabilities, texts)[0], nll_by_loop(probabilities, texts[:1])[1]


def loss_of_logits(probabilities, texts):
    current = torch.cat([text[:-1] for text in texts])
    following = torch.cat([text[1:] for text in texts])
    loss = F.cross_entropy(probabilities[current], following)
    return loss, loss.exp()


def seam_one_too_late(probabilities, texts):
    text = [token for one in texts for token in one.tolist()]
    left_out = set(itertools.accumulate(len(one) for one in texts[:-1]))
    steps = [s for at, s in enumerate(itertools.pairwise(text)) if at not in left_out]
    return with_perplexity(_scored(probabilities, steps)[0])


def perplexity_by_a_product(probabilities, texts):
    loss = nll_by_tensors(probabilities, texts)[0]
    product, steps = 1.0, 0
    for text in texts:
        for i, j in itertools.pairwise(text.tolist()):
            product *= float(probabilities[i, j])
            steps += 1
    return loss, (product or math.nan) ** (-1 / steps)


def score_with_the_first_symbol(probabilities, texts):
    s = [torch.tensor([-torch.log(torch.tensor(1 / len(probabilities)))]) for _ in texts]
    s += [-probabilities[t[:-1], t[1:]].log() for t in texts]
    nll = torch.cat([x.double() for x in s]).mean()
    return float(nll), float(nll.exp())


def score_by_the_largest(probabilities, texts):
    s = torch.cat([-probabilities[t[:-1]].max(1).values.log() for t in texts])
    return float(s.mean()), float(s.mean().exp())


# "Every step has the same weight": a pair that occurs twice is two steps
def every_pair_once(probabilities, texts):
    pairs = {pair for text in texts for pair in itertools.pairwise(text.tolist())}
    nll = -sum(probabilities[pair].log().item() for pair in pairs) / len(pairs)
    return nll, 2.718281828459045**nll


def entropy_of_the_rows(probabilities, texts):
    """Averages the entropy of the table's rows at each step, whatever symbol really followed."""
    entropies = -torch.xlogy(probabilities, probabilities).sum(dim=1)  # (V,)
    nll = torch.cat([entropies[text[:-1]] for text in texts]).mean()
    return nll.item(), nll.exp().item()


def texts_weighed_by_symbols(probabilities, texts):
    """Weighs the mean of a text by its N symbols instead of its N − 1 steps."""
    total, weight = 0.0, 0
    for text in texts:
        if len(text) > 1:
            mean = -probabilities[text[:-1], text[1:]].log().mean()
            total = total + len(text) * mean
            weight += len(text)
    return with_perplexity(total / weight)


WRONG = {
    "first-symbols-predicted": score_with_the_first_symbol,
    "likeliest-symbol": score_by_the_largest,
    "each-pair-once": every_pair_once,
    "entropy-of-the-rows": entropy_of_the_rows,
    "weighted-by-symbols": texts_weighed_by_symbols,
    "perplexity-from-a-product": perplexity_by_a_product,
    "seam-in-another-place": seam_one_too_late,
    "softmax-of-probabilities": loss_of_logits,
    "rare-step-softened": never_quite_zero,
    "mean-of-no-steps": means_by_length,
    "zeros-that-no-step-reads": counts_times_logs,
    "one-text-only": first_text,
    "last-steps-only": final_steps,
    "mean-of-perplexities": perplexities_averaged,
    "swapped-results": lambda p, texts: nll_in_numpy(p, texts)[::-1],
    "sign-forgotten": log_without_minus,
    "bits-not-nats": log_to_base_two,
    "mean-over-texts": mean_of_means,
    "sum-not-mean": summed,
    "divides-by-tokens": by_symbols,
    "transposed-table": other_way_round,
    "unshifted-targets": diagonal_only,
    "log-of-mean-probability": log_at_the_end,
    "pairs-across-texts": texts_joined,
    "log-of-product": multiplied_first,
    "perplexity-upside-down": one_over_perplexity,
    "perplexity-of-two": two_to_the_nats,
    "perplexity-of-the-sum": perplexity_of_sum,
}


# "Every step has the same weight"
def first_steps_alone(probabilities, texts):
    nll, _ = _scored(
        probabilities, [(int(text[0]), int(text[1])) for text in texts if len(text) > 1]
    )
    return with_perplexity(nll)


ODD = [
    (mean_of_each_by_length, "mean-of-no-steps"),
    (perplexity_of_the_last, "another-perplexity"),
    (lambda p, texts: nll_by_loop(p, texts)[0], "type"),
    (lambda p, texts: (1.0, 2.0), "another-surprise"),
    (first_steps_alone, "another-mean"),
    (one_step_at_least, "texts-of-other-lengths"),
    (single_steps_left_out, "texts-of-other-lengths"),
]


# --- Answers that no list names ---


# Takes the perplexity of each text and then their mean, which looks like the same thing: "Every
# step has the same weight, whichever text it is in."
def mean_of_perplexities(probabilities, texts):
    surprises = [-probabilities[text[:-1], text[1:]].log() for text in texts if len(text) > 1]
    nll = torch.cat(surprises).mean()
    perplexity = torch.stack([surprise.mean().exp() for surprise in surprises]).mean()
    return nll.item(), perplexity.item()


UNLISTED = {9: [(mean_of_perplexities, "mean-of-perplexities")]}
