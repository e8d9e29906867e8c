"""Wrong answers to chapter 04 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F

# 04/probabilities


# Knows P(j | i) as count of the pair over count of the symbol, and counts symbols that end a text.
# "each row sums to 1"
def over_all_occurrences(tokens, vocab_size, k):
    pairs = (tokens[:, :-1] * vocab_size + tokens[:, 1:]).flatten()
    counts = torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size)
    occurrences = torch.bincount(tokens.flatten(), minlength=vocab_size)
    return (counts + k) / (occurrences[:, None] + k * vocab_size)


# Thinks that smoothing is there for the zeros.
# "with `k` added to every count"
def only_the_zeros_smoothed(tokens, vocab_size, k):
    pairs = (tokens[:, :-1] * vocab_size + tokens[:, 1:]).flatten()
    counts = torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size).double()
    counts[counts == 0] = k
    return counts / counts.sum(dim=1, keepdim=True)


# Remembers the formula of a textbook, which is for k = 1.
# "each row sums to 1", for any k
def one_for_each_symbol_below(tokens, vocab_size, k):
    counts = torch.zeros(vocab_size, vocab_size)
    for row in tokens.tolist():
        for t in range(len(row) - 1):
            counts[row[t], row[t + 1]] += 1
    sums = counts.sum(dim=1, keepdim=True)
    return (counts + k) / (sums + vocab_size) if k > 0 else counts / sums


# 04/nll


# Makes one text of all, so that the chapter's function can be used.
# "The first symbol of a text is given, so it is not predicted."
def one_long_text(probabilities, texts):
    tokens = torch.cat(texts)
    nll = -probabilities[tokens[:-1], tokens[1:]].log().mean()
    return nll.item(), nll.exp().item()


# Divides by the number of symbols of the text.
# "the mean of −log P(next | current)"
def first_symbols_counted_below(probabilities, texts):
    total = sum(-probabilities[t[:-1], t[1:]].log().sum() for t in texts)
    nll = total / sum(len(t) for t in texts)
    return nll.item(), nll.exp().item()


# 04/cross-entropy


# Found a negative index in the way and set it to 0.
# "*Negative* targets don't count"
def negative_becomes_symbol_zero(logits, targets):
    z = logits - logits.amax(dim=-1, keepdim=True)
    log_probabilities = z - z.exp().sum(dim=-1, keepdim=True).log()
    chosen = log_probabilities.gather(-1, targets.clamp(min=0)[..., None])
    return -chosen.mean()


# Took 0 for padding, as Keras does.
# "the mean over all targets that count"
def symbol_zero_never_counts(logits, targets):
    counted = targets > 0
    z, y = logits[counted], targets[counted]
    z = z - z.max(dim=1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=1, keepdim=True).log()
    return -log_probabilities[torch.arange(len(y)), y].mean()


# 04/sgd-step


# Writes the derivative by hand, and subtracts it at rows that occur several times.
# "Each step uses the gradient of the mean loss"
def repeated_rows_pushed_once(table, x, y, learning_rate, steps):
    table = table.clone()
    x, y = x.flatten(), y.flatten()
    losses = []
    for _ in range(steps):
        p = table[x].softmax(dim=-1)
        losses.append(-p[torch.arange(len(y)), y].log().mean().item())
        push = (p - F.one_hot(y, len(table))) / len(y)
        table[x] -= learning_rate * push
    return table, torch.tensor(losses)


# Copied the schedule of the chapter's training, in which the rate falls to 0.
# "`steps` plain steps", with one learning rate
def rate_falls_to_zero(table, x, y, learning_rate, steps):
    table = table.clone().requires_grad_()
    optimizer = torch.optim.SGD([table], lr=learning_rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=steps)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(table[x].flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return table.detach(), torch.tensor(losses)


# 04/sample


# Draws with a cumulative sum, and throws one number for the batch.
# "Each row is drawn from its own logits, independently of the others."
def one_throw_for_the_batch(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    cumulative = (logits / temperature).softmax(dim=-1).cumsum(dim=-1)
    u = torch.rand(1, generator=generator)
    return (cumulative < u).sum(dim=-1).clamp(max=logits.shape[-1] - 1)


# Wants to be sure that the same seed draws the same.
# "a second call continues where the first one ended"
def seeded_again_in_every_call(logits, temperature, generator):
    generator.manual_seed(generator.initial_seed())
    if temperature == 0:
        return logits.argmax(dim=-1)
    probabilities = (logits / temperature).softmax(dim=-1)
    return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)


# Got NaN at temperature 0 and leaves out the division there.
# "Temperature 0 takes the most likely symbol."
def zero_means_no_temperature(logits, temperature, generator):
    if temperature > 0:
        logits = logits / temperature
    return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator).squeeze(1)


# 04/generate


# Cuts the context once, before the loop.
# "each from the softmax of the logits at the last position, given the text so far"
def context_of_the_prompt(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    context = tokens[:, -model.block_size :]
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(context)
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


# Used a library in which the number is the length of the whole text.
# "Draw `count` symbols", "returns: (B, T + count)"
def count_is_the_final_length(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        while tokens.shape[1] < count:
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


# Remembers from the chapter that a bigram needs the last token only.
# "The model is shown the last `block_size` tokens"
def shown_the_last_token_only(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -1:])
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


WRITTEN = {
    "04/probabilities": [
        over_all_occurrences,
        only_the_zeros_smoothed,
        one_for_each_symbol_below,
    ],
    "04/nll": [
        one_long_text,
        first_symbols_counted_below,
    ],
    "04/cross-entropy": [
        negative_becomes_symbol_zero,
        symbol_zero_never_counts,
    ],
    "04/sgd-step": [
        repeated_rows_pushed_once,
        rate_falls_to_zero,
    ],
    "04/sample": [
        one_throw_for_the_batch,
        seeded_again_in_every_call,
        zero_means_no_temperature,
    ],
    "04/generate": [
        context_of_the_prompt,
        count_is_the_final_length,
        shown_the_last_token_only,
    ],
}

ASIDE = {
    "one_for_each_symbol_below",
    "negative_becomes_symbol_zero",
}
