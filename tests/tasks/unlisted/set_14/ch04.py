"""Wrong answers to chapter 04 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F

# 04/probabilities


def smoothed_once_per_text(tokens, vocab_size, k):
    """Adds k inside the loop over the texts, so every count gets B · k instead of k."""
    counts = torch.zeros(vocab_size, vocab_size)
    for text in tokens:
        pairs = text[:-1] * vocab_size + text[1:]
        counts += torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size) + k
    return counts / counts.sum(dim=1, keepdim=True)


# 04/nll


def weighted_by_symbols(probabilities, texts):
    """Weighs each text's mean by its N symbols instead of by its N − 1 steps."""
    total, weight = 0.0, 0
    for text in texts:
        if len(text) < 2:
            continue
        surprise = -probabilities[text[:-1], text[1:]].log().mean()
        total = total + len(text) * surprise
        weight += len(text)
    nll = total / weight
    return nll.item(), nll.exp().item()


# 04/cross-entropy


def largest_along_time(logits, targets):
    """Subtracts the largest logit along the time axis, not along the symbols."""
    counted = targets >= 0
    z = logits - logits.max(dim=1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=2, keepdim=True).log()
    y = targets[counted]
    return -log_probabilities[counted][torch.arange(len(y)), y].mean()


# 04/sgd-step


def guesses_made_before_the_loop(table, x, y, learning_rate, steps):
    """Computes the gradient once, before the loop, so every step uses the first one."""
    V = len(table)
    x, y = x.flatten(), y.flatten()
    table = table.clone()
    wrong = table[x].softmax(dim=1) - F.one_hot(y, V)
    gradient = torch.zeros_like(table).index_add_(0, x, wrong / len(x))
    losses = []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x], y))
        table = table - learning_rate * gradient
    return table, torch.tensor(losses)


# 04/sample


def noise_cooled_too(logits, temperature, generator):
    """Adds Gumbel noise before dividing by the temperature, which then has no effect."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    uniform = torch.rand(logits.shape, generator=generator).clamp(min=1e-20)
    gumbel = -(-uniform.log()).log()
    return ((logits + gumbel) / temperature).argmax(dim=-1)


# 04/generate


def short_context_padded(model, tokens, count, generator):
    """Fills a context shorter than block_size with zeros in front, as if they were text."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            context = tokens[:, -model.block_size :]
            missing = model.block_size - context.shape[1]
            logits, _ = model(F.pad(context, (missing, 0)))
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


# 04/little-text


def every_hundredth_token():
    """Takes every 100th and every 10th token instead of the first 1 % and 10 %."""
    return {
        "text": "shakespeare",
        "one_percent": 3.408,
        "ten_percent": 3.332,
        "everything": 2.482,
    }


WRITTEN = {
    "04/probabilities": [smoothed_once_per_text],
    "04/nll": [weighted_by_symbols],
    "04/cross-entropy": [largest_along_time],
    "04/sgd-step": [guesses_made_before_the_loop],
    "04/sample": [noise_cooled_too],
    "04/generate": [short_context_padded],
    "04/little-text": [every_hundredth_token],
}
