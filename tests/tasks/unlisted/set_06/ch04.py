"""Wrong answers to chapter 04 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import itertools
import math

import torch
import torch.nn.functional as F

# 04/probabilities


# "with `k` added to every count": to those that are 0
def only_zeros_smoothed(tokens, vocab_size, k):
    counts = torch.zeros(vocab_size, vocab_size)
    for row in tokens.tolist():
        for current, following in itertools.pairwise(row):
            counts[current, following] += 1
    counts[counts == 0] = k
    return counts / counts.sum(dim=1, keepdim=True)


# "k: float, at least 0": counts of whole numbers take whole ones only
def counts_begun_with_whole_k(tokens, vocab_size, k):
    counts = torch.full((vocab_size, vocab_size), int(k))
    ones = torch.ones(tokens[:, 1:].numel(), dtype=torch.int64)
    pairs = (tokens[:, :-1].flatten(), tokens[:, 1:].flatten())
    counts.index_put_(pairs, ones, accumulate=True)
    return counts / counts.sum(dim=1, keepdim=True)


# "each row sums to 1": also one whose counts and k together are less than 1
def divided_by_one_at_least(tokens, vocab_size, k):
    pairs = tokens[:, :-1] * vocab_size + tokens[:, 1:]
    counts = torch.bincount(pairs.flatten(), minlength=vocab_size**2).view(-1, vocab_size) + k
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1)


# 04/nll


# "the mean surprise of a symbol in nats, and the perplexity": 2 to the nats
def perplexity_to_the_base_two(probabilities, texts):
    surprises = [-probabilities[text[:-1], text[1:]].log() for text in texts]
    nll = torch.cat(surprises).mean().item()
    return nll, 2**nll


# "Every step has the same weight, whichever text it is in.": in the perplexity, each text has
def mean_of_the_texts_perplexities(probabilities, texts):
    surprises = [-probabilities[text[:-1], text[1:]].log() for text in texts]
    perplexity = sum(surprise.mean().exp().item() for surprise in surprises) / len(texts)
    return torch.cat(surprises).mean().item(), perplexity


# "the mean of −log P(next | current)", however small P is
def no_probability_below_a_millionth(probabilities, texts):
    log_probabilities = probabilities.clamp(min=1e-6).log()
    total, steps = 0.0, 0
    for text in texts:
        total -= log_probabilities[text[:-1], text[1:]].sum().item()
        steps += len(text) - 1
    return total / steps, math.exp(total / steps)


# 04/cross-entropy


# "the result is the mean over all targets that count": of the rows' means
def mean_of_the_rows_means(logits, targets):
    z = logits - logits.amax(dim=-1, keepdim=True)
    log_probabilities = z - z.exp().sum(dim=-1, keepdim=True).log()
    counted = targets >= 0
    at = targets.clamp(min=0)[:, :, None]
    loss = -log_probabilities.gather(2, at).squeeze(2) * counted
    return (loss.sum(dim=1) / counted.sum(dim=1)).mean()


# "Logits may be in the hundreds, all of them or a single one.": one row hides what another can tell
def largest_logit_of_the_batch(logits, targets):
    counted = targets >= 0
    z, y = logits[counted], targets[counted]
    z = z - z.max()
    chosen = z[torch.arange(len(y)), y]
    return (z.exp().sum(dim=1).log() - chosen).mean()


# "Logits may be in the hundreds": no surprise is larger than 20
def a_little_added_before_the_logarithm(logits, targets):
    counted = targets >= 0
    z, y = logits[counted], targets[counted]
    powers = (z - z.amax(dim=1, keepdim=True)).exp()
    probabilities = powers / powers.sum(dim=1, keepdim=True)
    return -(probabilities[torch.arange(len(y)), y] + 1e-9).log().mean()


# "your functions leave what they are given as it was"
def largest_taken_from_the_callers_logits(logits, targets):
    logits -= logits.amax(dim=-1, keepdim=True)
    log_probabilities = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    counted = targets >= 0
    return -log_probabilities[counted].gather(1, targets[counted][:, None]).mean()


# 04/sgd-step


# "the gradient of the mean loss": a symbol that occurs several times moves its row once
def each_row_moved_once(table, x, y, learning_rate, steps):
    table, x, y = table.clone(), x.flatten(), y.flatten()
    losses = []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x], y))
        surplus = table[x].softmax(dim=1) - F.one_hot(y, table.shape[1])
        table[x] -= learning_rate * surplus / len(x)
    return table, torch.stack(losses)


# "the gradient of the mean loss": of the mean for each current symbol
def mean_over_each_symbols_own_pairs(table, x, y, learning_rate, steps):
    table, x, y = table.clone(), x.flatten(), y.flatten()
    losses = []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x], y))
        gradient = torch.zeros_like(table)
        for symbol in x.unique():
            mine = x == symbol
            seen = F.one_hot(y[mine], table.shape[1]).float().mean(dim=0)
            gradient[symbol] = table[symbol].softmax(dim=0) - seen
        table = table - learning_rate * gradient
    return table, torch.stack(losses)


# "with `steps` plain steps on one batch": on one text of the batch after the other
def one_step_for_each_text(table, x, y, learning_rate, steps):
    table = table.clone().requires_grad_()
    losses = torch.zeros(steps)
    for step in range(steps):
        for current, following in zip(x, y, strict=True):
            loss = F.cross_entropy(table[current], following)
            (gradient,) = torch.autograd.grad(loss, table)
            table = (table - learning_rate * gradient).detach().requires_grad_()
            losses[step] += loss.item() / len(x)
    return table.detach(), losses


# "the losses before each step (steps,)": also if the learning rate is so large that they rise
def stopped_when_the_loss_rises(table, x, y, learning_rate, steps):
    table = table.clone().requires_grad_()
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(table[x].flatten(0, 1), y.flatten())
        losses.append(loss.item())
        if losses[-1] > min(losses):
            break
        (gradient,) = torch.autograd.grad(loss, table)
        table = (table - learning_rate * gradient).detach().requires_grad_()
    return table.detach(), torch.tensor(losses)


# 04/sample


# "Each row is drawn from its own logits, independently of the others.": one number draws all
def one_random_number_for_all_rows(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=1)
    cumulative = (logits / temperature).softmax(dim=1).cumsum(dim=1)
    drawn = torch.rand(1, generator=generator)
    return (cumulative < drawn).sum(dim=1).clamp(max=logits.shape[1] - 1)


# "Temperature 0 takes the most likely symbol.", however close the next one is
def zero_is_a_hundredth(logits, temperature, generator):
    probabilities = (logits / max(temperature, 0.01)).softmax(dim=1)
    return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)


# "a second call continues where the first one ended": it draws the same again
def drawn_with_a_copy_of_the_generator(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=1)
    own = torch.Generator()
    own.set_state(generator.get_state())
    probabilities = (logits / temperature).softmax(dim=1)
    return torch.multinomial(probabilities, 1, generator=own).squeeze(1)


# "A logit may be −∞; that symbol is never drawn.": −50 is a logit like others when it is hot
def minus_infinity_is_minus_fifty(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=1)
    probabilities = (logits.clamp(min=-50) / temperature).softmax(dim=1)
    return torch.multinomial(probabilities, 1, generator=generator).squeeze(1)


# 04/generate


# "each from the softmax of the logits at the last position, given the text so far": a short text
# is filled up in front
def short_text_filled_up_in_front(model, tokens, count, generator):
    training = model.training
    model.eval()
    for _ in range(count):
        context = tokens[:, -model.block_size :]
        context = F.pad(context, (model.block_size - context.shape[1], 0))
        logits, _ = model(context)
        drawn = torch.multinomial(logits[:, -1].softmax(dim=1), 1, generator=generator)
        tokens = torch.cat([tokens, drawn], dim=1)
    model.train(training)
    return tokens


# "afterwards it is in the same mode as before the call": read when it has been switched
def mode_read_too_late(model, tokens, count, generator):
    model.eval()
    training = model.training
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        drawn = torch.multinomial(logits[:, -1].softmax(dim=1), 1, generator=generator)
        tokens = torch.cat([tokens, drawn], dim=1)
    model.train(training)
    return tokens


# "The model is shown the last `block_size` tokens": only those since the block was last full
def a_new_context_when_the_block_is_full(model, tokens, count, generator):
    training = model.training
    model.eval()
    context = tokens[:, -model.block_size :]
    for _ in range(count):
        logits, _ = model(context)
        drawn = torch.multinomial(logits[:, -1].softmax(dim=1), 1, generator=generator)
        tokens = torch.cat([tokens, drawn], dim=1)
        full = context.shape[1] == model.block_size
        context = drawn if full else torch.cat([context, drawn], dim=1)
    model.train(training)
    return tokens


# "All randomness comes from `generator`.": from its first seed, wherever it has come to since
def seeded_like_the_generator(model, tokens, count, generator):
    training = model.training
    model.eval()
    with torch.random.fork_rng():
        torch.manual_seed(generator.initial_seed())
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            drawn = torch.multinomial(logits[:, -1].softmax(dim=1), 1)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(training)
    return tokens


WRITTEN = {
    "04/probabilities": [
        only_zeros_smoothed,
        counts_begun_with_whole_k,
        divided_by_one_at_least,
    ],
    "04/nll": [
        perplexity_to_the_base_two,
        mean_of_the_texts_perplexities,
        no_probability_below_a_millionth,
    ],
    "04/cross-entropy": [
        mean_of_the_rows_means,
        largest_logit_of_the_batch,
        a_little_added_before_the_logarithm,
        largest_taken_from_the_callers_logits,
    ],
    "04/sgd-step": [
        each_row_moved_once,
        mean_over_each_symbols_own_pairs,
        one_step_for_each_text,
        stopped_when_the_loss_rises,
    ],
    "04/sample": [
        one_random_number_for_all_rows,
        zero_is_a_hundredth,
        drawn_with_a_copy_of_the_generator,
        minus_infinity_is_minus_fifty,
    ],
    "04/generate": [
        short_text_filled_up_in_front,
        mode_read_too_late,
        a_new_context_when_the_block_is_full,
        seeded_like_the_generator,
    ],
}

ASIDE = {
    "only_zeros_smoothed",
    "mean_of_the_texts_perplexities",
    "mean_over_each_symbols_own_pairs",
    "stopped_when_the_loss_rises",
    "mode_read_too_late",
    "a_new_context_when_the_block_is_full",
}
