"""Wrong answers to chapter 04 that no list names: the tenth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import torch

# 04/nll


# Hurried: put the texts end to end before cutting pairs, so the end of one predicts the next.
# "The first symbol of a text is given, so it is not predicted."
def texts_put_end_to_end(probabilities, texts):
    tokens = torch.cat(texts)
    surprises = -torch.log(probabilities[tokens[:-1], tokens[1:]])
    nll = surprises.mean()
    return nll.item(), torch.exp(nll).item()


# 04/cross-entropy


# Comes from Keras: takes a masked mean for each sample first, and the mean of the batch afterwards.
# "the result is the mean over all targets that count"
def mean_of_the_means_of_rows(logits, targets):
    counted = targets >= 0
    z = logits - logits.max(dim=-1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=-1, keepdim=True).log()
    index = targets.clamp(min=0).unsqueeze(-1)
    losses = -log_probabilities.gather(-1, index).squeeze(-1) * counted
    rows = losses.sum(dim=1) / counted.sum(dim=1).clamp(min=1)
    return rows.mean()


# 04/sgd-step


# Derived the gradient by hand, and added it up with an index, which keeps one guess of a symbol.
# "Each step uses the gradient of the mean loss"
def one_guess_of_each_symbol(table, x, y, learning_rate, steps):
    table = table.clone()
    current, following = x.flatten(), y.flatten()
    n = len(current)
    losses = []
    for _ in range(steps):
        probabilities = torch.softmax(table[current], dim=1)
        losses.append(-probabilities[torch.arange(n), following].log().mean())
        error = probabilities.clone()
        error[torch.arange(n), following] -= 1
        gradient = torch.zeros_like(table)
        gradient[current] += error / n
        table = table - learning_rate * gradient
    return table, torch.tensor(losses)


# 04/sample


# Comes from NumPy and inverts the cumulative sum, with one random number for the whole batch.
# "Each row is drawn from its own logits, independently of the others."
def one_random_number_for_all_rows(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=1)
    cumulative = torch.softmax(logits / temperature, dim=1).cumsum(dim=1)
    u = torch.rand(1, generator=generator)
    drawn = (cumulative <= u).sum(dim=1)
    return drawn.clamp(max=logits.shape[1] - 1)


# 04/generate


# Tired: followed the hint about the attribute, one line too late.
# "afterwards it is in the same mode as before the call"
@torch.no_grad()
def mode_read_after_the_switch(model, tokens, count, generator):
    model.eval()
    was_training = model.training
    for _ in range(count):
        context = tokens[:, -model.block_size :]
        logits, _ = model(context)
        probabilities = torch.softmax(logits[:, -1, :], dim=-1)
        following = torch.multinomial(probabilities, num_samples=1, generator=generator)
        tokens = torch.cat((tokens, following), dim=1)
    model.train(was_training)
    return tokens


WRITTEN = {
    "04/nll": [texts_put_end_to_end],
    "04/cross-entropy": [mean_of_the_means_of_rows],
    "04/sgd-step": [one_guess_of_each_symbol],
    "04/sample": [one_random_number_for_all_rows],
    "04/generate": [mode_read_after_the_switch],
}
