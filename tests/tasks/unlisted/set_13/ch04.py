"""Wrong answers to chapter 04 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F

# 04/probabilities


def only_empty_pairs_smoothed(tokens, vocab_size, k):
    """Sets the counts that are 0 to `k` instead of adding `k` to every count."""
    pairs = (tokens[:, :-1] * vocab_size + tokens[:, 1:]).flatten()
    counts = torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size).float()
    counts[counts == 0] = k
    return counts / counts.sum(dim=1, keepdim=True)


def divided_by_symbol_counts(tokens, vocab_size, k):
    """Divides by how often a symbol occurs; the last of each text is counted but starts no pair."""
    pairs = (tokens[:, :-1] * vocab_size + tokens[:, 1:]).flatten()
    counts = torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size)
    occurrences = torch.bincount(tokens.flatten(), minlength=vocab_size)
    return (counts + k) / (occurrences + k * vocab_size)[:, None]


def frequencies_smoothed(tokens, vocab_size, k):
    """Adds `k` to the relative frequencies of a row instead of the counts, then normalizes."""
    pairs = (tokens[:, :-1] * vocab_size + tokens[:, 1:]).flatten()
    counts = torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size).float()
    frequencies = counts / counts.sum(dim=1, keepdim=True).clamp(min=1) + k
    return frequencies / frequencies.sum(dim=1, keepdim=True)


# 04/nll


def mean_of_inverse_probabilities(probabilities, texts):
    """Takes the perplexity as the mean of 1 / p over the steps, not as exp of the mean surprise."""
    given = torch.cat([probabilities[text[:-1], text[1:]] for text in texts])
    return -given.log().mean().item(), (1 / given).mean().item()


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
    nll = total / weight
    return nll.item(), nll.exp().item()


# 04/cross-entropy


def logits_clamped(logits, targets):
    """Clamps the logits to ±80 so that exp cannot overflow, instead of subtracting the largest."""
    counted = targets >= 0
    z, y = logits[counted].clamp(-80, 80), targets[counted]
    log_probabilities = z - z.exp().sum(dim=1, keepdim=True).log()
    return -log_probabilities[torch.arange(len(y)), y].mean()


def targets_overwritten(logits, targets):
    """Sets the negative targets to 0 for the indexing, in the tensor that belongs to the caller."""
    counted = targets >= 0
    targets[~counted] = 0
    z = logits - logits.max(dim=-1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=-1, keepdim=True).log()
    losses = -log_probabilities.gather(2, targets[..., None]).squeeze(2)  # (B, T)
    return losses[counted].mean()


def mean_of_text_means(logits, targets):
    """Averages the targets of each text and then the texts, however many targets each has."""
    counted = targets >= 0
    z = logits - logits.max(dim=-1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=-1, keepdim=True).log()
    losses = -log_probabilities.gather(2, targets.clamp(min=0)[..., None]).squeeze(2)  # (B, T)
    means = (losses * counted).sum(dim=1) / counted.sum(dim=1)
    return means.mean()


# 04/sgd-step


def averaged_per_symbol(table, x, y, learning_rate, steps):
    """Divides each row's gradient by how often its symbol occurs, not by the size of the batch."""
    table, x, y = table.detach().clone(), x.flatten(), y.flatten()
    V = len(table)
    occurrences = torch.bincount(x, minlength=V).clamp(min=1)[:, None]
    losses = []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x], y))
        error = table[x].softmax(dim=1) - F.one_hot(y, V)  # (B·T, V)
        gradient = torch.zeros_like(table).index_add_(0, x, error) / occurrences
        table -= learning_rate * gradient
    return table, torch.tensor(losses)


def repeated_symbols_once(table, x, y, learning_rate, steps):
    """Adds with gradient[x] += …, which keeps one guess only of a symbol that occurs repeatedly."""
    table, x, y = table.detach().clone(), x.flatten(), y.flatten()
    losses = []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x], y))
        error = table[x].softmax(dim=1) - F.one_hot(y, len(table))  # (B·T, V)
        gradient = torch.zeros_like(table)
        gradient[x] += error / len(x)
        table -= learning_rate * gradient
    return table, torch.tensor(losses)


def updated_after_each_text(table, x, y, learning_rate, steps):
    """Updates the table after every row of the batch, B times a step, with that row's mean loss."""
    table = table.clone().requires_grad_()
    losses = []
    for _ in range(steps):
        with torch.no_grad():
            losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()).item())
        for current, following in zip(x, y, strict=True):
            loss = F.cross_entropy(table[current], following)
            (gradient,) = torch.autograd.grad(loss, table)
            with torch.no_grad():
                table -= learning_rate * gradient
    return table.detach(), torch.tensor(losses)


# 04/sample


def noise_divided_as_well(logits, temperature, generator):
    """Adds Gumbel noise before it divides by the temperature, which then changes nothing."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    uniform = torch.rand(logits.shape, generator=generator).clamp(min=1e-20)
    gumbel = -(-uniform.log()).log()
    return ((logits + gumbel) / temperature).argmax(dim=-1)


def one_number_for_all_rows(logits, temperature, generator):
    """Draws one uniform number and looks it up in the cumulative sums of all rows."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    cumulative = (logits / temperature).softmax(dim=-1).cumsum(dim=-1)  # (B, V)
    threshold = torch.rand(1, generator=generator) * cumulative[:, -1:]  # (B, 1)
    return torch.searchsorted(cumulative, threshold, right=True).squeeze(1)


def weights_without_maximum(logits, temperature, generator):
    """Draws with the weights exp(logits / temperature), which overflow at low temperatures."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    weights = (logits / temperature).exp()
    return torch.multinomial(weights, 1, generator=generator).squeeze(1)


# 04/generate


@torch.no_grad()
def context_never_grows(model, tokens, count, generator):
    """Drops the oldest token of the context at every step, also while it is below block_size."""
    was_training = model.training
    model.eval()
    context = tokens[:, -model.block_size :]
    for _ in range(count):
        logits, _ = model(context)
        drawn = torch.multinomial(logits[:, -1].softmax(dim=-1), 1, generator=generator)
        tokens = torch.cat([tokens, drawn], dim=1)
        context = torch.cat([context[:, 1:], drawn], dim=1)
    model.train(was_training)
    return tokens


@torch.no_grad()
def short_contexts_padded(model, tokens, count, generator):
    """Pads a context shorter than block_size with zeros on the left before the model sees it."""
    was_training = model.training
    model.eval()
    for _ in range(count):
        context = tokens[:, -model.block_size :]
        context = F.pad(context, (model.block_size - context.shape[1], 0), value=0)
        logits, _ = model(context)
        drawn = torch.multinomial(logits[:, -1].softmax(dim=-1), 1, generator=generator)
        tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


@torch.no_grad()
def softmax_over_time(model, tokens, count, generator):
    """Takes the softmax of (B, T, V) along dim=1, the positions, and the last position of that."""
    was_training = model.training
    model.eval()
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        probabilities = logits.softmax(dim=1)[:, -1]  # (B, V)
        drawn = torch.multinomial(probabilities, 1, generator=generator)
        tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


# 04/little-text


def last_part_of_training():
    """Counts on the last 1 % and 10 % of the training split, next to validation, not the first."""
    return {
        "text": "shakespeare",
        "one_percent": 2.61186,
        "ten_percent": 2.47847,
        "everything": 2.48189,
    }


def same_share_of_validation():
    """Measures on the first 1 % and 10 % of validation as well, not on the whole split."""
    return {
        "text": "shakespeare",
        "one_percent": 2.81864,
        "ten_percent": 2.65781,
        "everything": 2.48189,
    }


def random_pairs_of_training():
    """Counts 1 % and 10 % of the pairs drawn at random from all of training, not the first."""
    return {
        "text": "shakespeare",
        "one_percent": 2.65484,
        "ten_percent": 2.49992,
        "everything": 2.48189,
    }


WRITTEN = {
    "04/probabilities": [only_empty_pairs_smoothed, divided_by_symbol_counts, frequencies_smoothed],
    "04/nll": [mean_of_inverse_probabilities, entropy_of_the_rows, texts_weighed_by_symbols],
    "04/cross-entropy": [logits_clamped, targets_overwritten, mean_of_text_means],
    "04/sgd-step": [averaged_per_symbol, repeated_symbols_once, updated_after_each_text],
    "04/sample": [noise_divided_as_well, one_number_for_all_rows, weights_without_maximum],
    "04/generate": [context_never_grows, short_contexts_padded, softmax_over_time],
    "04/little-text": [last_part_of_training, same_share_of_validation, random_pairs_of_training],
}

ASIDE = {
    "averaged_per_symbol",
    "context_never_grows",
    "last_part_of_training",
    "mean_of_text_means",
    "one_number_for_all_rows",
    "only_empty_pairs_smoothed",
    "texts_weighed_by_symbols",
}
