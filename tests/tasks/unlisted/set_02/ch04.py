"""Wrong answers to chapter 04, second set."""

import torch
import torch.nn.functional as F


def _counts(tokens, vocab_size):
    pairs = (tokens[:, :-1] * vocab_size + tokens[:, 1:]).flatten()
    return torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size).float()


def smoothed_after_dividing(tokens, vocab_size, k):
    counts = _counts(tokens, vocab_size)
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1) + k


def smoothed_below_only_once(tokens, vocab_size, k):
    counts = _counts(tokens, vocab_size)
    return (counts + k) / (counts.sum(dim=1, keepdim=True) + k)


def smoothed_where_nothing_was_seen(tokens, vocab_size, k):
    """Adds k to the counts that are 0, and leaves the others."""
    counts = _counts(tokens, vocab_size)
    counts[counts == 0] = k
    return counts / counts.sum(dim=1, keepdim=True)


def perplexity_as_a_mean(probabilities, texts):
    each = [-probabilities[text[:-1], text[1:]].log() for text in texts]
    perplexity = torch.stack([surprises.mean().exp() for surprises in each]).mean()
    return torch.cat(each).mean().item(), perplexity.item()


def surprise_of_the_mean(probabilities, texts):
    given = torch.cat([probabilities[text[:-1], text[1:]] for text in texts])
    nll = -given.mean().log()
    return nll.item(), nll.exp().item()


def surprise_of_all_symbols(probabilities, texts):
    """Divides by the number of symbols, the first ones included."""
    total = sum(-probabilities[text[:-1], text[1:]].log().sum() for text in texts)
    nll = total / sum(len(text) for text in texts)
    return nll.item(), nll.exp().item()


def loss_less_the_largest_of_all(logits, targets):
    counted = targets >= 0
    z, y = logits[counted], targets[counted]
    z = z - z.max()
    return (z.exp().sum(dim=1).log() - z[torch.arange(len(y)), y]).mean()


def loss_with_a_floor(logits, targets):
    counted = targets >= 0
    p = logits[counted].softmax(dim=-1)
    y = targets[counted]
    return -(p[torch.arange(len(y)), y] + 1e-9).log().mean()


def loss_of_rows(logits, targets):
    """The mean of the means of the rows."""
    losses = F.cross_entropy(logits.transpose(1, 2), targets.clamp(min=0), reduction="none")
    counted = targets >= 0
    rows = (losses * counted).sum(dim=1) / counted.sum(dim=1).clamp(min=1)
    return rows.mean()


def descent_divided_by_the_rows(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    for _ in range(steps):
        logits = table[x]
        losses.append(F.cross_entropy(logits.flatten(0, 1), y.flatten()).item())
        error = (logits.softmax(dim=-1) - F.one_hot(y, len(table))) / x.shape[0]
        gradient = torch.zeros_like(table)
        gradient.index_add_(0, x.flatten(), error.flatten(0, 1))
        table = table - learning_rate * gradient
    return table, torch.tensor(losses)


def descent_with_one_more_loss(table, x, y, learning_rate, steps):
    table = table.clone().requires_grad_()
    losses = []
    for step in range(steps + 1):
        loss = F.cross_entropy(table[x].flatten(0, 1), y.flatten())
        losses.append(loss.item())
        if step < steps:
            (gradient,) = torch.autograd.grad(loss, table)
            table = (table - learning_rate * gradient).detach().requires_grad_()
    return table.detach(), torch.tensor(losses)


def descent_by_one_gradient(table, x, y, learning_rate, steps):
    """Takes every step with the gradient of the first table."""
    table = table.clone().requires_grad_()
    loss = F.cross_entropy(table[x].flatten(0, 1), y.flatten())
    (gradient,) = torch.autograd.grad(loss, table)
    losses, table = [], table.detach()
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()).item())
        table = table - learning_rate * gradient
    return table, torch.tensor(losses)


def draw_with_one_number_for_all(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    cumulative = (logits / temperature).softmax(dim=-1).cumsum(dim=-1)
    u = torch.rand(1, generator=generator)
    return (cumulative <= u).sum(dim=-1).clamp(max=logits.shape[1] - 1)


def draw_from_the_seed(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    torch.manual_seed(generator.initial_seed())
    return torch.multinomial((logits / temperature).softmax(dim=-1), 1).squeeze(1)


def draw_nearly_greedily_at_zero(logits, temperature, generator):
    probabilities = (logits / (temperature + 0.1)).softmax(dim=-1)
    return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)


def write_from_the_first_row(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits[0, -1].softmax(dim=-1)
            drawn = torch.multinomial(
                probabilities, len(tokens), replacement=True, generator=generator
            )
            tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(was_training)
    return tokens


def write_after_the_beginning(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, : model.block_size])
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


def write_with_the_future_off_by_one(model, tokens, count, generator):
    """Draws from the logits of the last position but one."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits[:, -2:][:, 0].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


WRITTEN = {
    "04/probabilities": [
        smoothed_after_dividing,
        smoothed_below_only_once,
        smoothed_where_nothing_was_seen,
    ],
    "04/nll": [perplexity_as_a_mean, surprise_of_the_mean, surprise_of_all_symbols],
    "04/cross-entropy": [loss_less_the_largest_of_all, loss_with_a_floor, loss_of_rows],
    "04/sgd-step": [
        descent_divided_by_the_rows,
        descent_with_one_more_loss,
        descent_by_one_gradient,
    ],
    "04/sample": [
        draw_with_one_number_for_all,
        draw_from_the_seed,
        draw_nearly_greedily_at_zero,
    ],
    "04/generate": [
        write_from_the_first_row,
        write_after_the_beginning,
        write_with_the_future_off_by_one,
    ],
}

ASIDE = {
    "smoothed_where_nothing_was_seen",
    "surprise_of_all_symbols",
    "loss_of_rows",
    "descent_by_one_gradient",
    "draw_nearly_greedily_at_zero",
    "write_with_the_future_off_by_one",
}
