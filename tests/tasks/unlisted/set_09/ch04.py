"""Wrong answers to chapter 04 that no list names: the ninth set.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F

# 04/probabilities


# Copied the slices of the chapter, where the text was one long row: "Count pairs inside each row
# only" – these pairs join a row to the row below it
def slices_of_a_single_text(tokens, vocab_size, k):
    pairs = tokens[:-1] * vocab_size + tokens[1:]
    counts = torch.bincount(pairs.flatten(), minlength=vocab_size**2)
    counts = counts.view(vocab_size, vocab_size) + k
    return counts / counts.sum(dim=1, keepdim=True)


# Comes from Java and declares counters as integers: "k: float, at least 0, added to every count"
def counters_that_are_integers(tokens, vocab_size, k):
    counts = torch.full((vocab_size, vocab_size), k, dtype=torch.int64)
    for row in tokens.tolist():
        for t in range(len(row) - 1):
            counts[row[t], row[t + 1]] += 1
    return counts / counts.sum(dim=1, keepdim=True)


# Knows (count + k) / (n + k) from a statistics class, where there were two outcomes: "each row
# sums to 1"
def denominator_with_a_single_k(tokens, vocab_size, k):
    counts = torch.zeros(vocab_size, vocab_size)
    ones = torch.ones(tokens[:, 1:].numel())
    counts.index_put_((tokens[:, :-1].flatten(), tokens[:, 1:].flatten()), ones, accumulate=True)
    return (counts + k) / (counts.sum(dim=1, keepdim=True) + k)


# 04/nll


# Hurried, divides by the number of symbols: "The first symbol of a text is given, so it is not
# predicted."
def divided_by_all_symbols(probabilities, texts):
    total, symbols = 0.0, 0
    for text in texts:
        for t in range(len(text) - 1):
            total -= probabilities[text[t], text[t + 1]].log().item()
        symbols += len(text)
    nll = total / symbols
    return nll, torch.tensor(nll).exp().item()


# Takes the perplexity of each text and then their mean, which looks like the same thing: "Every
# step has the same weight, whichever text it is in."
def mean_of_perplexities(probabilities, texts):
    surprises = [-probabilities[text[:-1], text[1:]].log() for text in texts if len(text) > 1]
    nll = torch.cat(surprises).mean()
    perplexity = torch.stack([surprise.mean().exp() for surprise in surprises]).mean()
    return nll.item(), perplexity.item()


# 04/cross-entropy


# Knows `ignore_index` of PyTorch and its default: "*Negative* targets don't count, whether they
# are −1, −100 or another number."
def only_minus_hundred_is_ignored(logits, targets):
    counted = targets != -100
    z, y = logits[counted], targets[counted]
    z = z - z.max(dim=1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=1, keepdim=True).log()
    return -log_probabilities[torch.arange(len(y)), y].mean()


# Wrote the stable softmax for (N, V) and put (B, T, V) into it; `dim=1` of the maximum was
# overlooked: "the result is the mean over all targets that count", of their −log p
def maximum_over_time(logits, targets):
    z = logits - logits.max(dim=1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=-1, keepdim=True).log()
    counted = targets >= 0
    losses = -log_probabilities.gather(2, targets.clamp(min=0)[:, :, None]).squeeze(2)
    return losses[counted].mean()


# Averages each text and then the batch, as Keras does: "the mean over all targets that count"
def mean_of_the_rows_means(logits, targets):
    z = logits - logits.max(dim=-1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=-1, keepdim=True).log()
    counted = (targets >= 0).float()
    losses = -log_probabilities.gather(2, targets.clamp(min=0).unsqueeze(2)).squeeze(2)
    each_text = (losses * counted).sum(dim=1) / counted.sum(dim=1).clamp(min=1)
    return each_text.mean()


# 04/sgd-step


# Took an optimizer with the settings of an older project: "`steps` plain steps on one batch"
def with_momentum(table, x, y, learning_rate, steps):
    table = table.clone().requires_grad_()
    optimizer = torch.optim.SGD([table], lr=learning_rate, momentum=0.9)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(table[x].flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return table.detach(), torch.tensor(losses)


# Derives the gradient by hand and writes it with NumPy's `+=`: "the gradient of the mean loss",
# in which a symbol that occurs twice counts twice
def repeated_symbols_once(table, x, y, learning_rate, steps):
    table, x, y = table.clone(), x.flatten(), y.flatten()
    losses = torch.zeros(steps)
    for step in range(steps):
        p = table[x].softmax(dim=-1)
        losses[step] = -p[torch.arange(len(y)), y].log().mean()
        p[torch.arange(len(y)), y] -= 1
        gradient = torch.zeros_like(table)
        gradient[x] += p / len(y)
        table -= learning_rate * gradient
    return table, losses


# Moved the gradient out of the loop because it "does not change": "Each step uses the gradient of
# the mean loss at the table that the step before it left."
def gradient_of_the_first_table(table, x, y, learning_rate, steps):
    start = table.clone().requires_grad_()
    loss = F.cross_entropy(start[x].flatten(0, 1), y.flatten())
    (gradient,) = torch.autograd.grad(loss, start)
    table, losses = table.clone(), []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()).item())
        table = table - learning_rate * gradient
    return table, torch.tensor(losses)


# 04/sample


# From statistics, raises probabilities to a power and takes the wrong one: "from
# softmax(logits / temperature)"
def power_of_the_temperature(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    p = logits.softmax(dim=-1) ** temperature
    p = p / p.sum(dim=-1, keepdim=True)
    return torch.multinomial(p, 1, generator=generator).squeeze(1)


# Read "the same seed draws the same symbols" and stopped reading: "a second call continues where
# the first one ended"
def seeded_anew_at_each_call(logits, temperature, generator):
    generator.manual_seed(generator.initial_seed())
    if temperature == 0:
        return logits.argmax(dim=-1)
    probabilities = (logits / temperature).softmax(dim=-1)
    return torch.multinomial(probabilities, 1, generator=generator)[:, 0]


# Inverts the distribution function as in a NumPy exercise, with one number for the batch: "Each
# row is drawn from its own logits, independently of the others."
def one_number_for_all_rows(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    cumulative = (logits / temperature).softmax(dim=-1).cumsum(dim=-1)
    u = torch.rand(1, generator=generator)
    return (cumulative < u).sum(dim=-1).clamp(max=logits.shape[-1] - 1)


# 04/generate


# Cut the text until the error about `block_size` went away: "the text that you return is whole"
def text_cut_to_the_context(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            tokens = tokens[:, -model.block_size :]
            logits, _ = model(tokens)
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


# Thinks of the table of pairs, the chapter's only model: "given the text so far", of which the
# model is shown "the last `block_size` tokens"
def shown_the_last_symbol_only(model, tokens, count, generator):
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


# Tired, wrote two lines in the wrong order: "afterwards it is in the same mode as before the call"
def mode_noted_after_the_switch(model, tokens, count, generator):
    model.eval()
    mode = model.training
    with torch.no_grad():
        for _ in range(count):
            context = tokens[:, -model.block_size :]
            logits, _ = model(context)
            probabilities = F.softmax(logits[:, -1, :], dim=-1)
            following = torch.multinomial(probabilities, num_samples=1, generator=generator)
            tokens = torch.cat((tokens, following), dim=1)
    model.train(mode)
    return tokens


WRITTEN = {
    "04/probabilities": [
        slices_of_a_single_text,
        counters_that_are_integers,
        denominator_with_a_single_k,
    ],
    "04/nll": [divided_by_all_symbols, mean_of_perplexities],
    "04/cross-entropy": [
        only_minus_hundred_is_ignored,
        maximum_over_time,
        mean_of_the_rows_means,
    ],
    "04/sgd-step": [with_momentum, repeated_symbols_once, gradient_of_the_first_table],
    "04/sample": [power_of_the_temperature, seeded_anew_at_each_call, one_number_for_all_rows],
    "04/generate": [
        text_cut_to_the_context,
        shown_the_last_symbol_only,
        mode_noted_after_the_switch,
    ],
}

ASIDE = {
    "denominator_with_a_single_k",
    "maximum_over_time",
    "power_of_the_temperature",
    "mode_noted_after_the_switch",
}
