"""Wrong answers to chapter 04 that no list names: the fifth set.

The comment before each says which sentence of the statement it breaks.
"""

from itertools import pairwise

import torch
import torch.nn.functional as F

# 04/probabilities


def pair_counts(tokens, vocab_size):
    pairs = (tokens[:, :-1] * vocab_size + tokens[:, 1:]).flatten()
    return torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size)


# "with `k` added to every count"
def k_where_nothing_was_counted(tokens, vocab_size, k):
    counts = pair_counts(tokens, vocab_size).float()
    counts[counts == 0] = k
    return counts / counts.sum(dim=1, keepdim=True)


# "With `k > 0`, a symbol that is never followed by anything gets a uniform row": its sum, V · k,
# may be smaller than 1
def sums_of_at_least_one(tokens, vocab_size, k):
    counts = pair_counts(tokens, vocab_size) + k
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1)


# "k: float, at least 0, added to every count"
def whole_numbers_only(tokens, vocab_size, k):
    counts = torch.full((vocab_size, vocab_size), int(k))
    for row in tokens.tolist():
        for current, following in pairwise(row):
            counts[current, following] += 1
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1)


# 04/nll


# "Return two numbers: the mean surprise of a symbol in nats, and the perplexity."
def mean_of_the_inverse_probabilities(probabilities, texts):
    given = torch.cat([probabilities[text[:-1], text[1:]] for text in texts])
    return -given.log().mean().item(), (1 / given).mean().item()


# "The first symbol of a text is given, so it is not predicted."
def divided_by_all_symbols(probabilities, texts):
    total = sum(-probabilities[text[:-1], text[1:]].log().sum().item() for text in texts)
    nll = total / sum(len(text) for text in texts)
    return nll, torch.tensor(nll).exp().item()


# "Every step has the same weight": a pair that occurs twice is two steps
def every_pair_once(probabilities, texts):
    pairs = {pair for text in texts for pair in pairwise(text.tolist())}
    nll = -sum(probabilities[pair].log().item() for pair in pairs) / len(pairs)
    return nll, 2.718281828459045**nll


# 04/cross-entropy


# "Logits may be in the hundreds, all of them or a single one."
def logits_clamped(logits, targets):
    counted = targets >= 0
    z, y = logits[counted].clamp(-80, 80), targets[counted]
    return (z.exp().sum(dim=1).log() - z[torch.arange(len(y)), y]).mean()


# "Unless a task says otherwise, your functions leave what they are given as it was."
def negative_targets_become_zero(logits, targets):
    counted = (targets >= 0).float()
    targets[targets < 0] = 0
    z = logits - logits.amax(dim=-1, keepdim=True)
    log_probabilities = z - z.exp().sum(dim=-1, keepdim=True).log()
    given = log_probabilities.gather(2, targets[:, :, None]).squeeze(2)
    return -(given * counted).sum() / counted.sum()


# "the result is the mean over all targets that count": not a mean of the samples' means
def mean_of_the_samples(logits, targets):
    losses = []
    for z, y in zip(logits, targets, strict=True):
        z, y = z[y >= 0], y[y >= 0]
        if len(y):
            z = z - z.amax(dim=-1, keepdim=True)
            losses.append((z.exp().sum(dim=-1).log() - z[torch.arange(len(y)), y]).mean())
    return torch.stack(losses).mean()


# "over the targets that are not negative": 0 is a symbol
def zero_does_not_count(logits, targets):
    counted = targets > 0
    z, y = logits[counted], targets[counted]
    z = z - z.amax(dim=1, keepdim=True)
    return (z.exp().sum(dim=1).log() - z[torch.arange(len(y)), y]).mean()


# 04/sgd-step


def guesses_less_truth(table, x, y):
    return table[x].softmax(dim=-1) - F.one_hot(y, len(table))


# "the gradient of the mean loss": of each symbol's own pairs
def mean_for_each_symbol(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    counts = torch.bincount(x.flatten(), minlength=len(table)).clamp(min=1)
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()))
        error = guesses_less_truth(table, x, y).flatten(0, 1)
        gradient = torch.zeros_like(table).index_add_(0, x.flatten(), error)
        table = table - learning_rate * gradient / counts[:, None]
    return table, torch.stack(losses)


# "Each step uses the gradient of the mean loss": a symbol that occurs several times counts once
def repeated_symbols_overwrite(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()))
        gradient = torch.zeros_like(table)
        gradient[x.flatten()] += guesses_less_truth(table, x, y).flatten(0, 1) / x.numel()
        table = table - learning_rate * gradient
    return table, torch.stack(losses)


# "the loss *before* each step", (steps,): the loss of the result is one more
def loss_after_the_last_step_too(table, x, y, learning_rate, steps):
    table, losses = table.clone().requires_grad_(), []
    for step in range(steps + 1):
        loss = F.cross_entropy(table[x].flatten(0, 1), y.flatten())
        losses.append(loss.item())
        if step < steps:
            (gradient,) = torch.autograd.grad(loss, table)
            table = (table - learning_rate * gradient).detach().requires_grad_()
    return table.detach(), torch.tensor(losses)


# 04/sample


# "Each row is drawn from its own logits, independently of the others."
def one_number_for_all_rows(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    edges = (logits / temperature).softmax(dim=-1).cumsum(dim=-1)
    drawn = torch.rand(1, generator=generator)
    return (edges <= drawn).sum(dim=-1).clamp(max=logits.shape[1] - 1)


# "from softmax(logits / temperature)" and "Temperature 0 takes the most likely symbol"
def never_colder_than_a_tenth(logits, temperature, generator):
    weights = (logits / max(temperature, 0.1)).softmax(dim=-1)
    return torch.multinomial(weights, 1, generator=generator).squeeze(1)


# "from softmax(logits / temperature)": the noise is divided, too, which leaves the choice as it was
def noise_divided_as_well(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    noise = -(-torch.rand(logits.shape, generator=generator).log()).log()
    return ((logits + noise) / temperature).argmax(dim=-1)


# "a second call continues where the first one ended"
def generator_begins_anew(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    generator.manual_seed(generator.initial_seed())
    weights = (logits / temperature).softmax(dim=-1)
    return torch.multinomial(weights, 1, generator=generator).squeeze(1)


# 04/generate


# "The model writes in evaluation mode": only the first symbol
def mode_restored_inside_the_loop(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            weights = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(weights, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
            model.train(was_training)
    return tokens


# "The model is shown the last `block_size` tokens": and nothing in front of a shorter text
def short_texts_filled_with_zeros(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            missing = max(0, model.block_size - tokens.shape[1])
            context = F.pad(tokens, (missing, 0))[:, -model.block_size :]
            logits, _ = model(context)
            weights = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(weights, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


# "The model is shown the last `block_size` tokens": it sees less and less of the end
def context_is_cut_once(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    begin = max(0, tokens.shape[1] - model.block_size)
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, begin : begin + model.block_size])
            weights = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(weights, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


# 04/little-text


# "measure the mean loss of the whole validation split": of what was counted
def losses_on_what_was_counted():
    return {
        "text": "shakespeare",
        "one_percent": 2.488,
        "ten_percent": 2.395,
        "everything": 2.455,
    }


WRITTEN = {
    "04/probabilities": [k_where_nothing_was_counted, sums_of_at_least_one, whole_numbers_only],
    "04/nll": [mean_of_the_inverse_probabilities, divided_by_all_symbols, every_pair_once],
    "04/cross-entropy": [
        logits_clamped,
        negative_targets_become_zero,
        mean_of_the_samples,
        zero_does_not_count,
    ],
    "04/sgd-step": [
        mean_for_each_symbol,
        repeated_symbols_overwrite,
        loss_after_the_last_step_too,
    ],
    "04/sample": [
        one_number_for_all_rows,
        never_colder_than_a_tenth,
        noise_divided_as_well,
        generator_begins_anew,
    ],
    "04/generate": [
        mode_restored_inside_the_loop,
        short_texts_filled_with_zeros,
        context_is_cut_once,
    ],
    "04/little-text": [losses_on_what_was_counted],
}

ASIDE = {
    "k_where_nothing_was_counted",
    "mean_of_the_inverse_probabilities",
    "divided_by_all_symbols",
    "repeated_symbols_overwrite",
    "one_number_for_all_rows",
    "mode_restored_inside_the_loop",
    "losses_on_what_was_counted",
}
