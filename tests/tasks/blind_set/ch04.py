"""Wrong answers to chapter 04 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F

# 04/probabilities


def k_only_once_in_the_divisor(tokens, vocab_size, k):
    """Adds k to every count but only one k to the sum of a row, so rows sum to more than 1."""
    first, second = tokens[:, :-1].flatten(), tokens[:, 1:].flatten()
    pairs = torch.bincount(first * vocab_size + second, minlength=vocab_size**2)
    counts = pairs.view(vocab_size, vocab_size).float()
    return (counts + k) / (counts.sum(dim=1, keepdim=True) + k)


def k_as_the_least_count(tokens, vocab_size, k):
    """Raises counts below k to k, instead of adding k to every count."""
    counts = torch.zeros(vocab_size, vocab_size)
    for row in tokens.tolist():
        for t in range(1, len(row)):
            counts[row[t - 1], row[t]] += 1
    counts = counts.clamp(min=k)
    return counts / counts.sum(dim=1, keepdim=True)


# 04/nll


def mean_over_symbols(probabilities, texts):
    """Divides by the number of symbols; the first one of each text is not predicted."""
    total, n = 0.0, 0
    for text in texts:
        total -= probabilities[text[:-1], text[1:]].log().sum().item()
        n += len(text)
    nll = total / n
    return nll, torch.tensor(nll).exp().item()


def perplexity_as_the_mean_of_inverses(probabilities, texts):
    """Averages 1 / p for the perplexity, instead of taking e to the mean surprise."""
    p = torch.cat([probabilities[text[:-1], text[1:]] for text in texts])
    return (-p.log()).mean(), (1 / p).mean()


# 04/cross-entropy


def one_largest_logit_for_all(logits, targets):
    """Subtracts the largest logit of the whole batch: positions far below it lose every exp."""
    counted = targets >= 0
    z = logits[counted]
    t = targets[counted]
    z = z - z.max()
    log_sum = z.exp().sum(dim=-1).log()
    return (log_sum - z[torch.arange(len(t)), t]).mean()


def every_row_weighs_the_same(logits, targets):
    """Takes the mean of each row first, so targets of a row with few of them weigh more."""
    counted = targets >= 0
    top = logits.max(dim=-1, keepdim=True).values
    log_sum = (logits - top).exp().sum(dim=-1).log() + top.squeeze(-1)
    chosen = logits.gather(-1, targets.clamp(min=0)[..., None]).squeeze(-1)
    losses = (log_sum - chosen) * counted
    n = counted.sum(dim=1)
    means = losses.sum(dim=1)[n > 0] / n[n > 0]
    return means.mean()


# 04/sgd-step


def losses_after_the_steps(table, x, y, learning_rate, steps):
    """Notes the loss after each step, not before it."""
    table = table.detach().clone().requires_grad_()
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(table[x].flatten(0, 1), y.flatten())
        (gradient,) = torch.autograd.grad(loss, table)
        with torch.no_grad():
            table -= learning_rate * gradient
            losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()))
    return table.detach(), torch.tensor(losses)


def repeated_symbols_pull_once(table, x, y, learning_rate, steps):
    """Adds the gradient with +=, where of a symbol's several guesses only the last one stays."""
    table = table.detach().clone()
    x, y = x.flatten(), y.flatten()
    n = len(x)
    losses = torch.zeros(steps)
    for step in range(steps):
        log_p = table[x].log_softmax(dim=-1)
        losses[step] = -log_p[torch.arange(n), y].mean()
        guess = log_p.exp()
        guess[torch.arange(n), y] -= 1
        gradient = torch.zeros_like(table)
        gradient[x] += guess / n
        table = table - learning_rate * gradient
    return table, losses


# 04/sample


def probabilities_to_the_power_of_the_temperature(logits, temperature, generator):
    """Raises probabilities to the temperature, not to 1 / temperature: hot and cold change."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    weights = F.softmax(logits, dim=-1) ** temperature
    return torch.multinomial(weights, 1, generator=generator).squeeze(1)


def one_number_for_all_rows(logits, temperature, generator):
    """Draws a single random number and uses it for every row: equal rows get equal symbols."""
    if temperature == 0:
        return logits.argmax(dim=1)
    p = torch.softmax(logits / temperature, dim=1)
    u = torch.rand(1, generator=generator)
    drawn = (p.cumsum(dim=1) <= u).sum(dim=1)
    last = logits.shape[1] - 1 - (p > 0).flip(1).int().argmax(dim=1)
    return torch.minimum(drawn, last)


# 04/generate


def context_from_the_beginning(model, tokens, count, generator):
    """Shows the model the first block_size tokens: from then on it goes on at the same place."""
    was_training = model.training
    model.eval()
    text = tokens
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(text[:, : model.block_size])
            p = F.softmax(logits[:, -1], dim=-1)
            text = torch.cat([text, torch.multinomial(p, 1, generator=generator)], dim=1)
    model.train(was_training)
    return text


@torch.no_grad()
def short_context_filled_with_zeros(model, tokens, count, generator):
    """Pads a short context to block_size with token 0 in front, and the model reads that."""
    mode = model.training
    model.eval()
    for _ in range(count):
        context = tokens[:, -model.block_size :]
        context = F.pad(context, (model.block_size - context.shape[1], 0), value=0)
        logits = model(context)[0][:, -1, :]
        symbol = torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)
        tokens = torch.cat((tokens, symbol), dim=1)
    model.train(mode)
    return tokens


WRITTEN = {
    "04/probabilities": [k_only_once_in_the_divisor, k_as_the_least_count],
    "04/nll": [mean_over_symbols, perplexity_as_the_mean_of_inverses],
    "04/cross-entropy": [one_largest_logit_for_all, every_row_weighs_the_same],
    "04/sgd-step": [losses_after_the_steps, repeated_symbols_pull_once],
    "04/sample": [probabilities_to_the_power_of_the_temperature, one_number_for_all_rows],
    "04/generate": [context_from_the_beginning, short_context_filled_with_zeros],
}
