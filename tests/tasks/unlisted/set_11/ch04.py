"""Wrong answers to chapter 04 that no list names: the eleventh set.

The comment before each says who the student is and which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F

# 04/probabilities


# Remembers that smoothing is there for pairs that never occur, and smooths only those.
# "with `k` added to every count"
def only_empty_cells_smoothed(tokens, vocab_size, k):
    counts = torch.zeros(vocab_size, vocab_size)
    for row in tokens:
        for t in range(len(row) - 1):
            counts[row[t], row[t + 1]] += 1
    counts[counts == 0] = k
    return counts / counts.sum(dim=1, keepdim=True)


# 04/cross-entropy


# Keeps `dim=1` from a snippet for (N, V), where it meant the vocabulary and here means time.
# "the result is the mean over all targets that count": of logits shifted by different numbers
def maximum_over_time(logits, targets):
    logits = logits - logits.max(dim=1, keepdim=True).values
    log_sum = logits.exp().sum(dim=-1).log()
    picked = logits.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    losses = log_sum - picked
    return losses[targets >= 0].mean()


# 04/sgd-step


# Derives the gradient by hand and adds it up with an index, as in NumPy.
# "Each step uses the gradient of the mean loss": a symbol that occurs twice adds only once
def rows_added_once(table, x, y, learning_rate, steps):
    table = table.clone()
    x, y = x.flatten(), y.flatten()
    n = len(x)
    losses = []
    for _ in range(steps):
        probabilities = F.softmax(table[x], dim=1)
        losses.append(-probabilities[torch.arange(n), y].log().mean())
        error = probabilities - F.one_hot(y, table.shape[1])
        gradient = torch.zeros_like(table)
        gradient[x] += error / n
        table = table - learning_rate * gradient
    return table, torch.stack(losses)


# 04/sample


# Has read about the Gumbel trick and divides after the noise was added.
# "from softmax(logits / temperature)": the temperature changes no maximum
def noise_before_the_temperature(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    uniform = torch.rand(logits.shape, generator=generator)
    gumbel = -torch.log(-torch.log(uniform))
    return ((logits + gumbel) / temperature).argmax(dim=-1)


WRITTEN = {
    "04/probabilities": [only_empty_cells_smoothed],
    "04/cross-entropy": [maximum_over_time],
    "04/sgd-step": [rows_added_once],
    "04/sample": [noise_before_the_temperature],
}
