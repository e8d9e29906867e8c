"""Answers to the tasks of chapter 04, as students write them."""

import itertools
import math
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

# --- probabilities --------------------------------------------------------------------------------


def probabilities_by_loop(tokens, vocab_size, k):
    counts = [[k] * vocab_size for _ in range(vocab_size)]
    for row in tokens.tolist():
        for current, following in itertools.pairwise(row):
            counts[current][following] += 1
    return [[n / sum(row) for n in row] for row in counts]


def probabilities_by_one_hot(tokens, vocab_size, k):
    current = F.one_hot(tokens[:, :-1], vocab_size).float()
    following = F.one_hot(tokens[:, 1:], vocab_size).float()
    counts = torch.einsum("bti,btj->ij", current, following) + k
    return counts / counts.sum(1, keepdim=True)


def probabilities_by_put(tokens, vocab_size, k):
    counts = torch.full((vocab_size, vocab_size), float(k))
    index = (tokens[:, :-1].reshape(-1), tokens[:, 1:].reshape(-1))
    counts.index_put_(index, torch.ones(index[0].numel()), accumulate=True)
    return F.normalize(counts, p=1, dim=1)


def probabilities_in_numpy(tokens, vocab_size, k):
    tokens = tokens.numpy()
    counts = np.full((vocab_size, vocab_size), k, dtype=float)
    np.add.at(counts, (tokens[:, :-1], tokens[:, 1:]), 1)
    return (counts.T / counts.sum(axis=1)).T


def looped_counts(tokens, vocab_size):
    counts = torch.zeros(vocab_size, vocab_size)
    for row in tokens:
        for t in range(len(row) - 1):
            counts[row[t], row[t + 1]] += 1
    return counts


def counts_turned(tokens, vocab_size, k):
    counts = torch.full((vocab_size, vocab_size), float(k))
    for row in tokens:
        for t in range(1, len(row)):
            counts[row[t], row[t - 1]] += 1
    return counts / counts.sum(1, keepdim=True)


def columns_divided(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size) + k
    return counts / counts.sum(0)


def no_keepdim(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size) + k
    return counts / counts.sum(-1)


def one_long_line(tokens, vocab_size, k):
    return probabilities_by_loop(tokens.reshape(1, -1), vocab_size, k)


def pairs_with_itself(tokens, vocab_size, k):
    counts = torch.diag(torch.bincount(tokens.reshape(-1), minlength=vocab_size).float()) + k
    return counts / counts.sum(1, keepdim=True)


def fancy_plus_equals(tokens, vocab_size, k):
    counts = np.full((vocab_size, vocab_size), k, dtype=float)
    counts[tokens[:, :-1].numpy(), tokens[:, 1:].numpy()] += 1
    return counts / counts.sum(1, keepdims=True)


def share_of_all_pairs(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size) + k
    return (counts.flatten() / counts.sum()).view_as(counts)


def only_counts(tokens, vocab_size, k):
    return looped_counts(tokens, vocab_size) + k


def one_k_below(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size)
    rows = [(row + k) / (row.sum() + k) for row in counts]
    return torch.stack(rows)


def nothing_below(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size)
    totals = counts.sum(1, keepdim=True)
    return counts / totals + k / totals


def smoothed_never(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size)
    return counts / counts.sum(1, keepdim=True).clamp(min=1)


def smoothed_too_late(tokens, vocab_size, k):
    counts = looped_counts(tokens, vocab_size)
    shares = counts / counts.sum(1, keepdim=True)
    return (shares + k) / (1 + k * vocab_size)


# --- nll ------------------------------------------------------------------------------------------


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


# --- cross-entropy --------------------------------------------------------------------------------


def cross_entropy_by_loop(logits, targets):
    losses = []
    for row, aims in zip(logits.tolist(), targets.tolist(), strict=True):
        for scores, aim in zip(row, aims, strict=True):
            if aim < 0:
                continue
            top = max(scores)
            losses.append(top + math.log(sum(math.exp(s - top) for s in scores)) - scores[aim])
    return sum(losses) / len(losses)


def cross_entropy_by_where(logits, targets):
    counted = (targets >= 0).to(logits.dtype)
    safe = targets.clamp(min=0).unsqueeze(-1)
    losses = logits.logsumexp(-1) - logits.gather(-1, safe).squeeze(-1)
    return (losses * counted).sum() / counted.sum()


def cross_entropy_by_library(logits, targets):
    keep = targets.reshape(-1) >= 0
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1])[keep], targets.reshape(-1)[keep])


def cross_entropy_in_numpy(logits, targets):
    logits, targets = logits.numpy(), targets.numpy()
    z = logits - logits.max(-1, keepdims=True)
    b, t = np.nonzero(targets >= 0)
    logs = z - np.log(np.exp(z).sum(-1, keepdims=True))
    return np.float32(-logs[b, t, targets[b, t]].mean())


def by_hand(log_p, targets):
    keep = targets >= 0
    return -(log_p[keep] * F.one_hot(targets[keep], log_p.shape[-1])).sum(-1)


def probabilities_as_logits(logits, targets):
    return cross_entropy_by_library(F.softmax(logits, -1), targets)


def raw_into_library(logits, targets):
    return nn.CrossEntropyLoss()(logits, targets)


def plus_in_front(logits, targets):
    return F.log_softmax(logits, -1)[targets >= 0].gather(1, targets[targets >= 0, None]).mean()


def sum_of_losses(logits, targets):
    return F.cross_entropy(
        logits.flatten(0, 1), targets.clamp(min=-1).flatten(), reduction="sum", ignore_index=-1
    )


def in_bits(logits, targets):
    keep = targets >= 0
    z = logits - logits.max(-1, keepdim=True).values
    p = z.exp() / z.exp().sum(-1, keepdim=True)
    return -p[keep, targets[keep]].log2().mean()


def over_positions(logits, targets):
    z = logits - logits.max(1, keepdim=True).values
    log_p = z - z.exp().sum(1, keepdim=True).log()
    keep = targets >= 0
    return -log_p[keep, targets[keep]].mean()


def chapters_line(logits, targets):
    B, T, V = logits.shape
    return F.cross_entropy(logits.view(B * T, V), targets.view(B * T))


def divided_by_all(logits, targets):
    losses = (
        torch.logsumexp(logits, -1) - logits.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    )
    return (losses * (targets >= 0)).mean()


def ignored_set_to_zero(logits, targets):
    targets = torch.where(targets < 0, 0, targets)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def rows_first(logits, targets):
    return sum(
        cross_entropy_by_library(logits[b : b + 1], targets[b : b + 1]) for b in range(len(logits))
    ) / len(logits)


def plain_exponentials(logits, targets):
    e = torch.exp(logits)
    p = e / e.sum(-1, keepdim=True)
    return by_hand(torch.log(p), targets).mean()


def log_after_softmax(logits, targets):
    p = torch.softmax(logits, dim=-1)
    keep = targets >= 0
    return -torch.log(p[keep].gather(1, targets[keep].unsqueeze(1)) + 1e-12).mean()


# --- sgd-step -------------------------------------------------------------------------------------


def descend_by_hand(table, x, y, learning_rate, steps):
    table, x, y = table.clone(), x.reshape(-1), y.reshape(-1)
    losses = []
    for _ in range(steps):
        p = table[x].softmax(-1)
        losses.append(-p[torch.arange(len(y)), y].log().mean().item())
        delta = (p - F.one_hot(y, table.shape[1])) / len(y)
        table.index_add_(0, x, delta, alpha=-learning_rate)
    return table, losses


def descend_by_optimizer(table, x, y, learning_rate, steps):
    layer = nn.Embedding.from_pretrained(table, freeze=False)
    optimizer = torch.optim.SGD(layer.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(layer(x).transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return layer.weight, losses


def descend_with_backward(table, x, y, learning_rate, steps):
    weights = table.double().requires_grad_(True)
    losses = torch.zeros(steps)
    for step in range(steps):
        loss = F.cross_entropy(weights[x].view(-1, weights.shape[1]), y.view(-1))
        loss.backward()
        weights.data -= learning_rate * weights.grad
        weights.grad.zero_()
        losses[step] = loss.item()
    return weights.detach(), losses


def descend_in_numpy(table, x, y, learning_rate, steps):
    table, losses = table.numpy().astype(float), []
    x, y = x.numpy().ravel(), y.numpy().ravel()
    for _ in range(steps):
        e = np.exp(table)
        p = e / e.sum(1, keepdims=True)
        losses.append(-np.log(p[x, y]).mean())
        gradient = np.zeros_like(table)
        for i, j in zip(x, y, strict=True):
            gradient[i] += p[i] / len(x)
            gradient[i, j] -= 1 / len(x)
        table = table - learning_rate * gradient
    return table, np.array(losses)


def stepping(change):
    """Backward and a hand-made update; `change` says how the gradient is used."""

    def answer(table, x, y, learning_rate, steps):
        table, losses = table.clone(), []
        for _ in range(steps):
            leaf = table.clone().requires_grad_()
            loss = F.cross_entropy(leaf[x].transpose(1, 2), y)
            loss.backward()
            losses.append(loss.item())
            table = change(table, leaf.grad, learning_rate, x, y)
        return table, losses

    return answer


def never_zeroed(table, x, y, learning_rate, steps):
    layer = nn.Embedding.from_pretrained(table.clone(), freeze=False)
    optimizer = torch.optim.SGD(layer.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(layer(x).flatten(0, 1), y.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return layer.weight, losses


def zeroed_too_early(table, x, y, learning_rate, steps):
    weights = table.clone().requires_grad_()
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(weights[x].flatten(0, 1), y.flatten())
        loss.backward()
        weights.grad.zero_()
        weights.data -= learning_rate * weights.grad
        losses.append(loss.item())
    return weights, losses


def adam_from_the_chapter(table, x, y, learning_rate, steps):
    layer = nn.Embedding.from_pretrained(table, freeze=False)
    optimizer = torch.optim.Adam(layer.parameters(), lr=learning_rate)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(layer(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return layer.weight, losses


def forgets_the_target(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()))
        gradient = torch.zeros_like(table)
        for i in x.flatten():
            gradient[i] += table[i].softmax(-1) / x.numel()
        table = table - learning_rate * gradient
    return table, losses


def last_of_equals(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    x, y = x.flatten(), y.flatten()
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x], y))
        delta = (table[x].softmax(-1) - F.one_hot(y, len(table))) / len(y)
        table[x] -= learning_rate * delta
    return table, losses


def trains_its_own(table, x, y, learning_rate, steps):
    layer = nn.Embedding(*table.shape)
    return descend_by_hand(layer.weight.detach(), x, y, learning_rate, steps)


def stops_after_one(table, x, y, learning_rate, steps):
    table, losses = descend_by_hand(table, x, y, learning_rate, 1)
    return table, losses * steps


def loss_afterwards(table, x, y, learning_rate, steps):
    losses = []
    for _ in range(steps):
        table, _ = descend_with_backward(table, x, y, learning_rate, 1)
        losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()))
    return table, losses


# --- sample ---------------------------------------------------------------------------------------


def sample_by_cumulative_sum(logits, temperature, generator):
    if temperature == 0:
        return logits.max(-1).indices
    reached = (logits / temperature).softmax(-1).cumsum(-1)
    number = torch.rand(len(logits), 1, generator=generator, dtype=logits.dtype)
    return torch.searchsorted(reached, number).squeeze(1).clamp(max=logits.shape[1] - 1)


def sample_by_gumbel(logits, temperature, generator):
    noise = -torch.log(-torch.log(torch.rand(logits.shape, generator=generator)))
    return (logits + temperature * noise).argmax(dim=1)


def sample_by_loop(logits, temperature, generator):
    drawn = []
    for row in logits:
        if temperature == 0:
            drawn.append(int(row.argmax()))
        else:
            weights = torch.exp((row - row.max()) / temperature)
            drawn.append(torch.multinomial(weights, 1, generator=generator).item())
    return drawn


def sample_in_numpy(logits, temperature, generator):
    if temperature < 1e-9:
        return np.argmax(logits.numpy(), axis=1)
    rng = np.random.default_rng(torch.randint(2**31, (1,), generator=generator).item())
    e = np.exp(logits.numpy() / temperature)
    reached = np.cumsum(e / e.sum(1, keepdims=True), axis=1)
    return np.minimum((reached < rng.random((len(e), 1))).sum(1), e.shape[1] - 1)


def most_likely(logits, temperature, generator):
    return torch.topk(logits, 1).indices[:, 0]


def one_uniform(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    number = torch.rand((), generator=generator).item()
    reached = (logits / temperature).softmax(-1).cumsum(-1)
    return torch.tensor([int((row < number).sum().clamp(max=len(row) - 1)) for row in reached])


def hotter_is_colder(logits, temperature, generator):
    weights = (logits * temperature).softmax(-1) if temperature else (logits * 1e9).softmax(-1)
    return torch.multinomial(weights, 1, generator=generator).flatten()


def divided_probabilities(logits, temperature, generator):
    if not temperature:
        return logits.argmax(-1)
    weights = logits.softmax(-1) / temperature
    return torch.multinomial(weights, 1, generator=generator)[:, 0]


def row_zero(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    p = (logits[0] / temperature).softmax(-1)
    return torch.multinomial(p, len(logits), replacement=True, generator=generator)


def softmax_dim_zero(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    return torch.multinomial(F.softmax(logits / temperature, 0), 1, generator=generator)[:, 0]


def probabilities_for_logits(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    p = (logits / temperature).softmax(-1)
    return sample_by_gumbel(p, 1.0, generator)


def global_generator(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(-1)
    return torch.distributions.Categorical(logits=logits / temperature).sample()


def seeds_itself(logits, temperature, generator):
    generator.manual_seed(1337)
    return sample_by_cumulative_sum(logits, temperature, generator)


def zero_not_thought_of(logits, temperature, generator):
    reached = (logits / temperature).softmax(-1).cumsum(-1)
    number = torch.rand(len(logits), 1, generator=generator)
    return (reached < number).sum(-1).clamp(max=logits.shape[1] - 1)


def uniform_whatever(logits, temperature, generator):
    return torch.randint(logits.shape[1], (len(logits),), generator=generator)


# --- generate -------------------------------------------------------------------------------------


def generate_by_list(model, tokens, count, generator):
    mode = model.training
    model.eval()
    rows = tokens.tolist()
    for _ in range(count):
        context = torch.tensor([row[-model.block_size :] for row in rows])
        last = model(context)[0][:, -1, :]
        for row, drawn in zip(rows, sample_by_gumbel(last, 1.0, generator).tolist(), strict=True):
            row.append(drawn)
    model.train(mode)
    return torch.tensor(rows)


@torch.no_grad()
def generate_into_buffer(model, tokens, count, generator):
    training, B, T = model.training, *tokens.shape
    model.train(False)
    out = torch.empty(B, T + count, dtype=torch.long)
    out[:, :T] = tokens
    for t in range(T, T + count):
        logits, _ = model(out[:, max(0, t - model.block_size) : t])
        p = F.softmax(logits[:, -1].double(), dim=-1)
        out[:, t] = torch.multinomial(p, 1, generator=generator)[:, 0]
    if training:
        model.train()
    return out


def generate_recursively(model, tokens, count, generator):
    if count == 0:
        return tokens
    training = model.training
    try:
        logits, _ = model.eval()(
            tokens if tokens.shape[1] < model.block_size else tokens[:, -model.block_size :]
        )
        drawn = sample_by_cumulative_sum(logits[:, -1].double(), 1.0, generator)
    finally:
        model.train(training)
    return generate_recursively(model, torch.hstack([tokens, drawn[:, None]]), count - 1, generator)


def writing(context, last=lambda logits: logits[:, -1], before=None, after=None):
    """A loop over symbols as students write it, with one thing changed."""

    def answer(model, tokens, count, generator):
        mode = model.training
        (before or (lambda m: m.eval()))(model)
        for _ in range(count):
            p = F.softmax(last(model(context(tokens, model))[0]).float(), dim=-1)
            drawn = torch.multinomial(p, num_samples=1, generator=generator)
            tokens = torch.cat((tokens, drawn), dim=1)
        (after or (lambda m, mode: m.train(mode)))(model, mode)
        return tokens

    return answer


def cropped(tokens, model):
    return tokens[:, -model.block_size :]


def text_forgotten(model, tokens, count, generator):
    mode = model.training
    model.eval()
    for _ in range(count):
        if tokens.shape[1] > model.block_size:
            tokens = tokens[:, -model.block_size :]
        drawn = sample_by_gumbel(model(tokens)[0][:, -1], 1.0, generator)
        tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(mode)
    return tokens


def only_what_is_new(model, tokens, count, generator):
    return generate_into_buffer(model, tokens, count, generator)[:, -count:]


def prompt_again_and_again(model, tokens, count, generator):
    mode = model.training
    model.eval()
    written = [tokens]
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        written.append(sample_by_gumbel(logits[:, -1], 1.0, generator)[:, None])
    model.train(mode)
    return torch.cat(written, dim=1)


def likeliest_text(model, tokens, count, generator):
    mode = model.training
    model.eval()
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        tokens = torch.cat([tokens, logits[:, -1].topk(1).indices], dim=1)
    model.train(mode)
    return tokens


def own_randomness(model, tokens, count, generator):
    mode = model.training
    model.eval()
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        p = logits[:, -1].float().softmax(-1)
        tokens = torch.cat([tokens, torch.multinomial(p, 1)], dim=1)
    model.train(mode)
    return tokens


def logits_for_weights(model, tokens, count, generator):
    mode = model.training
    model.eval()
    for _ in range(count):
        scores = model(tokens[:, -model.block_size :])[0][:, -1].double()
        reached = (scores / scores.sum(-1, keepdim=True)).cumsum(-1)
        number = torch.rand(len(tokens), 1, generator=generator, dtype=torch.float64)
        tokens = torch.cat([tokens, torch.searchsorted(reached, number)], dim=1)
    model.train(mode)
    return tokens


def uniform_text(model, tokens, count, generator):
    new = torch.randint(5, (len(tokens), count), generator=generator)
    return torch.cat([tokens, new], dim=1)


def unfilled(*args):
    raise NotImplementedError


RIGHT = {
    "probabilities": {
        "loop": probabilities_by_loop,
        "one-hot": probabilities_by_one_hot,
        "index_put_": probabilities_by_put,
        "numpy": probabilities_in_numpy,
    },
    "nll": {
        "loop": nll_by_loop,
        "nll_loss": nll_by_tensors,
        "numpy": nll_in_numpy,
        "pair counts": nll_by_pair_counts,
        "single precision": lambda p, texts: nll_by_tensors(p.float(), texts),
    },
    "cross-entropy": {
        "loop": cross_entropy_by_loop,
        "where": cross_entropy_by_where,
        "library": cross_entropy_by_library,
        "numpy": cross_entropy_in_numpy,
        "single precision": lambda z, y: cross_entropy_by_where(z.float(), y),
    },
    "sgd-step": {
        "by hand": descend_by_hand,
        "torch's SGD": descend_by_optimizer,
        "backward": descend_with_backward,
        "numpy": descend_in_numpy,
    },
    "sample": {
        "cumulative sum": sample_by_cumulative_sum,
        "Gumbel": sample_by_gumbel,
        "loop": sample_by_loop,
        "numpy": sample_in_numpy,
    },
    "generate": {
        "lists": generate_by_list,
        "buffer": generate_into_buffer,
        "recursion": generate_recursively,
    },
}

WRONG = {
    "probabilities": {
        "transposed-counts": counts_turned,
        "divides-columns": columns_divided,
        "keepdim-forgotten": no_keepdim,
        "pairs-across-rows": one_long_line,
        "unshifted-targets": pairs_with_itself,
        "lost-repeats": fancy_plus_equals,
        "joint-probabilities": share_of_all_pairs,
        "counts-not-probabilities": only_counts,
        "denominator-without-V": one_k_below,
        "denominator-not-smoothed": nothing_below,
        "no-smoothing": smoothed_never,
        "smooths-probabilities": smoothed_too_late,
    },
    "nll": {
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
    },
    "cross-entropy": {
        "softmax-before-cross-entropy": probabilities_as_logits,
        "loss-not-flattened": raw_into_library,
        "sign-forgotten": plus_in_front,
        "sum-not-mean": sum_of_losses,
        "bits-not-nats": in_bits,
        "softmax-over-time": over_positions,
        "ignored-indexed": chapters_line,
        "ignored-counted": divided_by_all,
        "ignored-as-zero": ignored_set_to_zero,
        "mean-of-row-means": rows_first,
        "overflow": plain_exponentials,
        "log-of-softmax": log_after_softmax,
    },
    "sgd-step": {
        "no-zero-grad": never_zeroed,
        "wrong-sign": stepping(lambda table, grad, rate, x, y: table + rate * grad),
        "no-step": zeroed_too_early,
        "adam-for-sgd": adam_from_the_chapter,
        "sum-not-mean": stepping(lambda table, grad, rate, x, y: table - rate * grad * y.numel()),
        "gradient-without-target": forgets_the_target,
        "lost-repeats": last_of_equals,
        "hot-start": trains_its_own,
        "one-step-only": stops_after_one,
        "loss-after-the-step": loss_afterwards,
    },
    "sample": {
        "argmax-for-sampling": most_likely,
        "one-draw-for-all": one_uniform,
        "temperature-multiplied": hotter_is_colder,
        "temperature-ignored": divided_probabilities,
        "reads-first-logits": row_zero,
        "softmax-over-batch": softmax_dim_zero,
        "softmax-twice": probabilities_for_logits,
        "generator-ignored": global_generator,
        "seed-fixed-inside": seeds_itself,
        "divides-by-zero": zero_not_thought_of,
    },
    "generate": {
        "no-crop": writing(lambda tokens, model: tokens),
        "reads-first-logits": writing(cropped, last=lambda logits: logits[:, 0, :]),
        "last-token-only": writing(lambda tokens, model: tokens[:, [-1]]),
        "crops-the-end": writing(lambda tokens, model: tokens[:, : model.block_size]),
        "crops-one-too-many": writing(lambda tokens, model: tokens[:, 1 - model.block_size :]),
        "cropped-for-good": text_forgotten,
        "prompt-dropped": only_what_is_new,
        "context-not-extended": prompt_again_and_again,
        "train-mode-sampling": writing(
            cropped, before=lambda model: None, after=lambda model, mode: None
        ),
        "mode-not-restored": writing(cropped, after=lambda model, mode: model.train()),
        "argmax-for-sampling": likeliest_text,
        "no-softmax": logits_for_weights,
        "generator-ignored": own_randomness,
    },
}

ODD = {
    "probabilities": [
        (lambda tokens, vocab_size, k: torch.ones(vocab_size), "shape"),
        (
            lambda tokens, vocab_size, k: np.full((vocab_size, vocab_size), 0.5),
            "rows-do-not-sum-to-one",
        ),
        (lambda tokens, vocab_size, k: np.full((vocab_size,) * 2, 1 / vocab_size), "difference"),
        (lambda tokens, vocab_size, k: tokens[99], "error"),
    ],
    "nll": [
        (lambda p, texts: nll_by_loop(p, texts)[0], "error"),
        (lambda p, texts: (1.0, 2.0), "difference"),
    ],
    "cross-entropy": [
        (lambda z, y: z.logsumexp(-1), "shape"),
        (lambda z, y: cross_entropy_by_loop(z, y) + 1, "difference"),
    ],
    "sgd-step": [
        (lambda table, x, y, rate, steps: table, "error"),
        (stepping(lambda table, grad, rate, x, y: table - rate * grad / 3), "wrong-length-of-step"),
        (stepping(lambda table, grad, rate, x, y: table - 0.1 * rate), "moves-other-rows"),
    ],
    "sample": [
        (lambda z, t, g: sample_by_loop(z, t, g)[:-1], "shape"),
        (lambda z, t, g: sample_by_cumulative_sum(z, t, g)[:, None], "shape"),
        (uniform_whatever, "wrong-frequencies"),
        (lambda z, t, g: (z / (t or 1)).softmax(-1).amax(-1), "no-such-symbol"),
    ],
    "generate": [
        (uniform_text, "wrong-frequencies"),
        (
            writing(cropped, last=lambda logits: logits[:, -1] / 3),
            "wrong-frequencies",
        ),
        (lambda m, tokens, count, g: generate_into_buffer(m, tokens, count + 1, g), "shape"),
    ],
}

SCAFFOLD = dict.fromkeys(RIGHT, unfilled)
