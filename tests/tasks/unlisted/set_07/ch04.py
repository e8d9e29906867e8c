"""Wrong answers to chapter 04 that no list names: the seventh set, as students hand them in.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F

# 04/probabilities


# Comes from NumPy's `axis=1` and forgets that the dimension goes.
# "entry (i, j) is P(j | i), and each row sums to 1"
def sums_along_the_wrong_side(tokens, vocab_size, k):
    counts = torch.zeros(vocab_size, vocab_size)
    for row in tokens.tolist():
        for i in range(len(row) - 1):
            counts[row[i], row[i + 1]] += 1
    counts = counts + k
    return counts / counts.sum(1)


# Normalizes first and smooths afterwards. "with `k` added to every count"
def smoothed_after_dividing(tokens, vocab_size, k):
    first = tokens[:, :-1].reshape(-1)
    second = tokens[:, 1:].reshape(-1)
    N = torch.zeros(vocab_size, vocab_size)
    N.index_put_((first, second), torch.ones(len(first)), accumulate=True)
    P = N / N.sum(dim=1, keepdim=True).clamp(min=1)
    P = P + k
    return P / P.sum(dim=1, keepdim=True)


# 04/nll


# Has heard that perplexity is 2 to the power of the entropy, which is right in bits.
# "the mean surprise of a symbol in nats, and the perplexity"
def two_to_the_nats(probabilities, texts):
    total, n = 0.0, 0
    for text in texts:
        p = probabilities[text[:-1], text[1:]]
        total += -torch.log(p).sum().item()
        n += len(p)
    nll = total / n
    return nll, 2**nll


# Divides by the symbols that he has read. "The first symbol of a text is given, so it is not
# predicted."
def divided_by_all_symbols(probabilities, texts):
    log_likelihood = torch.tensor(0.0)
    n = 0
    for text in texts:
        for i in range(len(text) - 1):
            log_likelihood += torch.log(probabilities[text[i], text[i + 1]])
        n += len(text)
    nll = -log_likelihood / n
    return nll.item(), torch.exp(nll).item()


# 04/cross-entropy


# Knows `ignore_index=-100` from the library.
# "*Negative* targets don't count, whether they are −1, −100 or another number."
def only_minus_one_hundred(logits, targets):
    V = logits.shape[-1]
    logits = logits.reshape(-1, V)
    targets = targets.reshape(-1)
    keep = targets != -100
    logits, targets = logits[keep], targets[keep]
    logits = logits - logits.max(dim=-1, keepdim=True).values
    log_sum = logits.exp().sum(dim=-1).log()
    picked = logits[torch.arange(len(targets)), targets]
    return (log_sum - picked).mean()


# Comes from Keras, where a mask multiplies the losses.
# "the result is the mean over all targets that count"
def masked_mean_over_everything(logits, targets):
    mask = (targets >= 0).float()
    shifted = logits - logits.max(dim=-1, keepdim=True).values
    log_probs = shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
    picked = log_probs.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -(picked * mask).mean()


# 04/sgd-step


# Works the gradient out by hand and adds it up as in NumPy.
# "Each step uses the gradient of the mean loss"
def repeated_symbols_only_once(table, x, y, learning_rate, steps):
    table = table.clone()
    x, y = x.flatten(), y.flatten()
    losses = []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x], y).item())
        gradient = torch.zeros_like(table)
        gradient[x] += (table[x].softmax(dim=1) - F.one_hot(y, len(table))) / len(x)
        table -= learning_rate * gradient
    return table, torch.tensor(losses)


# Adapted a training loop and forgot one line of it. "the gradient of the mean loss at the table
# that the step before it left"
def no_zero_grad(table, x, y, learning_rate, steps):
    table = table.clone().requires_grad_(True)
    losses = torch.zeros(steps)
    for i in range(steps):
        logits = table[x]
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        losses[i] = loss.item()
        with torch.no_grad():
            table -= learning_rate * table.grad
    return table.detach(), losses


# 04/sample


# Comes from another framework, where a seed is all there is.
# "a second call continues where the first one ended"
def seeded_in_every_call(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=1)
    torch.manual_seed(generator.initial_seed())
    probs = F.softmax(logits / temperature, dim=1)
    return torch.multinomial(probs, num_samples=1).view(-1)


# 04/generate


# Cuts the text in place of the context. "the text that you return is whole"
def text_cut_to_the_block(model, tokens, count, generator):
    training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            tokens = tokens[:, -model.block_size :]
            logits, _ = model(tokens)
            probs = F.softmax(logits[:, -1, :], dim=-1)
            nxt = torch.multinomial(probs, 1, generator=generator)
            tokens = torch.cat((tokens, nxt), dim=1)
    model.train(training)
    return tokens


# Ends as the evaluation function of every tutorial ends.
# "afterwards it is in the same mode as before the call"
@torch.no_grad()
def always_back_to_training(model, tokens, count, generator):
    model.eval()
    for _ in range(count):
        context = tokens[:, -model.block_size :]
        logits, _ = model(context)
        probs = F.softmax(logits[:, -1, :], dim=-1)
        idx_next = torch.multinomial(probs, num_samples=1, generator=generator)
        tokens = torch.cat((tokens, idx_next), dim=1)
    model.train()
    return tokens


WRITTEN = {
    "04/probabilities": [sums_along_the_wrong_side, smoothed_after_dividing],
    "04/nll": [two_to_the_nats, divided_by_all_symbols],
    "04/cross-entropy": [only_minus_one_hundred, masked_mean_over_everything],
    "04/sgd-step": [repeated_symbols_only_once, no_zero_grad],
    "04/sample": [seeded_in_every_call],
    "04/generate": [text_cut_to_the_block, always_back_to_training],
}
