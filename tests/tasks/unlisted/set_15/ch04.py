"""Wrong answers to chapter 04 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F

# 04/probabilities


def raised_to_at_least_k(tokens, vocab_size, k):
    """Raises every count to at least k (clamp) instead of adding k to every count."""
    pairs = (tokens[:, :-1] * vocab_size + tokens[:, 1:]).flatten()
    counts = torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size)
    counts = counts.float().clamp(min=k)
    return counts / counts.sum(dim=1, keepdim=True)


# 04/nll


def entropy_of_the_rows_visited(probabilities, texts):
    """Averages the entropy of the rows visited, and never looks at the symbol that really came."""
    visited = torch.cat([text[:-1] for text in texts])
    rows = probabilities[visited]
    nll = torch.special.entr(rows).sum(dim=1).mean()
    return nll.item(), nll.exp().item()


# 04/cross-entropy


def binary_loss_of_every_symbol(logits, targets):
    """Adds −log(1 − p) of all symbols that are not the target, as the two-class loss does."""
    counted = targets >= 0
    z, y = logits[counted], targets[counted]
    z = z - z.max(dim=1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=1, keepdim=True).log()
    others = (1 - log_probabilities.exp()).clamp(min=1e-9).log()
    here = F.one_hot(y, z.shape[1]).bool()
    return -torch.where(here, log_probabilities, others).sum(dim=1).mean()


# 04/sgd-step


def pair_after_pair(table, x, y, learning_rate, steps):
    """Changes the table pair by pair, so later pairs of a step meet rows that moved already."""
    table = table.clone()
    losses = []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()).item())
        for current, following in zip(x.flatten(), y.flatten(), strict=True):
            wrong = table[current].softmax(dim=0)
            wrong[following] -= 1
            table[current] -= learning_rate * wrong / x.numel()
    return table, torch.tensor(losses)


# 04/sample


def rank_taken_for_the_symbol(logits, temperature, generator):
    """Draws from the sorted probabilities and returns the rank, not the symbol at that rank."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    probabilities = (logits / temperature).softmax(dim=-1)
    ordered, _symbols = probabilities.sort(dim=-1, descending=True)
    return torch.multinomial(ordered, 1, generator=generator).squeeze(1)


# 04/generate


def softmax_over_time(model, tokens, count, generator):
    """Takes the softmax along the positions before cutting out the last one, not over symbols."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits.softmax(dim=1)[:, -1]
            drawn = torch.multinomial(probabilities, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


# 04/little-text


def logarithm_of_the_mean():
    """Takes −log of the mean probability instead of the mean of −log."""
    return {
        "text": "shakespeare",
        "one_percent": 2.163,
        "ten_percent": 1.935,
        "everything": 1.884,
    }


WRITTEN = {
    "04/probabilities": [raised_to_at_least_k],
    "04/nll": [entropy_of_the_rows_visited],
    "04/cross-entropy": [binary_loss_of_every_symbol],
    "04/sgd-step": [pair_after_pair],
    "04/sample": [rank_taken_for_the_symbol],
    "04/generate": [softmax_over_time],
    "04/little-text": [logarithm_of_the_mean],
}
