"""Unlisted wrong answers to chapter 04."""

import itertools

import torch
import torch.nn.functional as F


def _counts(tokens, V):
    c = torch.zeros(V, V)
    for row in tokens.tolist():
        for a, b in itertools.pairwise(row):
            c[a, b] += 1
    return c


def table_of_logs(tokens, vocab_size, k):
    c = _counts(tokens, vocab_size) + k
    return (c / c.sum(1, keepdim=True)).log()


def table_of_the_first_text(tokens, vocab_size, k):
    c = _counts(tokens[:1], vocab_size) + k
    return c / c.sum(1, keepdim=True).clamp(min=1)


def table_by_softmax(tokens, vocab_size, k):
    return (_counts(tokens, vocab_size) + k).softmax(1)


def table_of_frequencies(tokens, vocab_size, k):
    c = torch.bincount(tokens.flatten(), minlength=vocab_size) + k
    return (c / c.sum()).expand(vocab_size, vocab_size)


def table_k_for_missing_pairs(tokens, vocab_size, k):
    c = _counts(tokens, vocab_size)
    c = torch.where(c == 0, torch.full_like(c, k), c)
    return c / c.sum(1, keepdim=True)


def table_without_the_last(tokens, vocab_size, k):
    c = _counts(tokens[:, :-1], vocab_size) + k
    return c / c.sum(1, keepdim=True).clamp(min=1e-9)


def score_of_the_last(probabilities, texts):
    s = [-probabilities[t[-2], t[-1]].log() for t in texts]
    nll = sum(s) / len(s)
    return float(nll), float(nll.exp())


def score_of_the_first_text(probabilities, texts):
    t = texts[0]
    nll = -probabilities[t[:-1], t[1:]].log().mean()
    return float(nll), float(nll.exp())


def score_with_the_first_symbol(probabilities, texts):
    s = [torch.tensor([-torch.log(torch.tensor(1 / len(probabilities)))]) for _ in texts]
    s += [-probabilities[t[:-1], t[1:]].log() for t in texts]
    nll = torch.cat([x.double() for x in s]).mean()
    return float(nll), float(nll.exp())


def score_mean_perplexity(probabilities, texts):
    s = torch.cat([-probabilities[t[:-1], t[1:]].log() for t in texts])
    return float(s.mean()), float(s.exp().mean())


def score_of_entropy(probabilities, texts):
    h = -(probabilities * probabilities.log()).sum(1)
    nll = torch.cat([h[t[:-1]] for t in texts]).mean()
    return float(nll), float(nll.exp())


def loss_of_the_last(logits, targets):
    return F.cross_entropy(logits[:, -1], targets[:, -1], ignore_index=-1)


def loss_of_all_divided(logits, targets):
    keep = targets >= 0
    s = -logits.log_softmax(-1).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    return (s * keep).sum() / targets.numel()


def loss_only_minus_one(logits, targets):
    z = logits - logits.max(-1, keepdim=True).values
    lp = z - z.exp().sum(-1, keepdim=True).log()
    keep = targets != -1
    return -lp[keep].gather(1, targets[keep].clamp(min=0)[:, None]).mean()


def loss_shifted_once(logits, targets):
    keep = targets >= 0
    z, y = logits[keep], targets[keep]
    z = z - z.max()
    return -(z[torch.arange(len(y)), y] - z.exp().sum(1).log()).mean()


def loss_squared(logits, targets):
    keep = targets >= 0
    p = logits[keep].softmax(-1)
    return (1 - p[torch.arange(len(p)), targets[keep]]).square().mean()


def _loss(table, x, y):
    return F.cross_entropy(table[x].flatten(0, 1), y.flatten())


def descend_half_step(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    for n in range(steps):
        t = table.clone().requires_grad_()
        loss = _loss(t, x, y)
        (g,) = torch.autograd.grad(loss, t)
        table = table - learning_rate / (n + 1) * g
        losses.append(loss.item())
    return table, losses


def descend_one_row(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    for _ in range(steps):
        t = table.clone().requires_grad_()
        loss = _loss(t, x[:1], y[:1])
        (g,) = torch.autograd.grad(loss, t)
        table = table - learning_rate * g
        losses.append(loss.item())
    return table, losses


def descend_normalized(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    for _ in range(steps):
        t = table.clone().requires_grad_()
        loss = _loss(t, x, y)
        (g,) = torch.autograd.grad(loss, t)
        table = table - learning_rate * g / g.norm()
        losses.append(loss.item())
    return table, losses


def descend_last_loss(table, x, y, learning_rate, steps):
    for _ in range(steps):
        t = table.clone().requires_grad_()
        loss = _loss(t, x, y)
        (g,) = torch.autograd.grad(loss, t)
        table = table - learning_rate * g
    return table, loss.item()


def descend_same_gradient(table, x, y, learning_rate, steps):
    t = table.clone().requires_grad_()
    loss = _loss(t, x, y)
    (g,) = torch.autograd.grad(loss, t)
    return table - steps * learning_rate * g, [loss.item()] * steps


def sample_without_the_last(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    p = (logits[:, :-1] / temperature).softmax(-1)
    return torch.multinomial(p, 1, generator=generator)[:, 0]


def sample_of_two(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    top = logits.topk(2, dim=-1)
    i = torch.multinomial(
        (top.values / temperature).softmax(-1).nan_to_num(), 1, generator=generator
    )
    return top.indices.gather(1, i)[:, 0]


def sample_root(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    p = (logits / temperature**0.5).softmax(-1)
    return torch.multinomial(p, 1, generator=generator)[:, 0]


def sample_coldest(logits, temperature, generator):
    if temperature == 0:
        return logits.argmin(-1)
    p = (logits / temperature).softmax(-1)
    return torch.multinomial(p, 1, generator=generator)[:, 0]


def sample_as_column(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1, keepdim=True)
    return torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)


def _write(model, tokens, count, generator, start=-1, read=-1, extra=0):
    was = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count + extra):
            logits, _ = model(tokens[:, -model.block_size :])
            p = logits[:, read].softmax(-1)
            tokens = torch.cat([tokens, torch.multinomial(p, 1, generator=generator)], 1)
    model.train(was)
    return tokens


def write_one_more(model, tokens, count, generator):
    return _write(model, tokens, count, generator, extra=1)


def write_the_second_last(model, tokens, count, generator):
    return _write(model, tokens, count, generator, read=-2)


def write_only_the_new(model, tokens, count, generator):
    return _write(model, tokens, count, generator)[:, -model.block_size :]


def write_in_front(model, tokens, count, generator):
    was = model.training
    model.eval()
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        new = torch.multinomial(logits[:, -1].softmax(-1), 1, generator=generator)
        tokens = torch.cat([new, tokens], 1)
    model.train(was)
    return tokens


def write_all_at_once(model, tokens, count, generator):
    was = model.training
    model.eval()
    logits, _ = model(tokens[:, -model.block_size :])
    new = torch.multinomial(logits[:, -1].softmax(-1), count, replacement=True, generator=generator)
    model.train(was)
    return torch.cat([tokens, new], 1)


def write_the_first_row(model, tokens, count, generator):
    out = _write(model, tokens[:1], count, generator)
    return out.expand(len(tokens), -1)


# Written later, when the judges had been tuned on the others.


def table_of_both_neighbours(tokens, vocab_size, k):
    c = torch.zeros(vocab_size, vocab_size)
    for row in tokens.tolist():
        for a, b in itertools.pairwise(row):
            c[a, b] += 1
            c[b, a] += 1
    c += k
    return c / c.sum(1, keepdim=True)


def score_by_the_largest(probabilities, texts):
    s = torch.cat([-probabilities[t[:-1]].max(1).values.log() for t in texts])
    return float(s.mean()), float(s.mean().exp())


def loss_of_the_median(logits, targets):
    keep = targets >= 0
    s = -logits[keep].log_softmax(-1).gather(1, targets[keep][:, None])
    return s.median()


def descend_with_decay(table, x, y, learning_rate, steps):
    losses = []
    table = table.clone()
    for _ in range(steps):
        t = table.clone().requires_grad_()
        loss = F.cross_entropy(t[x].flatten(0, 1), y.flatten())
        (g,) = torch.autograd.grad(loss, t)
        table = table * (1 - 0.01 * learning_rate) - learning_rate * g
        losses.append(loss.item())
    return table, losses


def sample_with_noise(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    noise = torch.randn(logits.shape, generator=generator, dtype=logits.dtype)
    return (logits / temperature + noise).argmax(-1)


def write_with_a_pause(model, tokens, count, generator):
    """Shows the model its own text one symbol late."""
    was = model.training
    model.eval()
    seen = tokens
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(seen[:, -model.block_size :])
            seen = tokens
            new = torch.multinomial(logits[:, -1].softmax(-1), 1, generator=generator)
            tokens = torch.cat([tokens, new], 1)
    model.train(was)
    return tokens


WRITTEN = {
    "04/probabilities": [
        table_of_logs,
        table_of_the_first_text,
        table_by_softmax,
        table_of_frequencies,
        table_k_for_missing_pairs,
        table_without_the_last,
        table_of_both_neighbours,
    ],
    "04/nll": [
        score_of_the_last,
        score_of_the_first_text,
        score_with_the_first_symbol,
        score_mean_perplexity,
        score_of_entropy,
        score_by_the_largest,
    ],
    "04/cross-entropy": [
        loss_of_the_last,
        loss_of_all_divided,
        loss_only_minus_one,
        loss_shifted_once,
        loss_squared,
        loss_of_the_median,
    ],
    "04/sgd-step": [
        descend_half_step,
        descend_one_row,
        descend_normalized,
        descend_last_loss,
        descend_same_gradient,
        descend_with_decay,
    ],
    "04/sample": [
        sample_without_the_last,
        sample_of_two,
        sample_root,
        sample_coldest,
        sample_as_column,
        sample_with_noise,
    ],
    "04/generate": [
        write_one_more,
        write_the_second_last,
        write_only_the_new,
        write_in_front,
        write_all_at_once,
        write_the_first_row,
        write_with_a_pause,
    ],
}

ASIDE = ()
