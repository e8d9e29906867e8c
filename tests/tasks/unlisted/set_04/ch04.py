"""Wrong answers to chapter 04 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F


def counted(tokens, vocab_size):
    pairs = (tokens[:, :-1] * vocab_size + tokens[:, 1:]).flatten()
    return torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size).float()


# 04/probabilities


# "with k added to every count"
def smoothed_after_dividing(tokens, vocab_size, k):
    counts = counted(tokens, vocab_size)
    shares = counts / counts.sum(dim=1, keepdim=True).clamp(min=1)
    return (shares + k) / (shares + k).sum(dim=1, keepdim=True)


# "each row sums to 1"
def divisor_holds_k_once(tokens, vocab_size, k):
    counts = counted(tokens, vocab_size)
    return (counts + k) / (counts.sum(dim=1, keepdim=True) + k)


# 04/nll


# "the mean of −log P(next | current) in nats and the perplexity"
def two_to_the_nats(probabilities, texts):
    surprises = torch.cat([-probabilities[text[:-1], text[1:]].log() for text in texts])
    nll = surprises.mean().item()
    return nll, 2**nll


# "the first symbol of a text is given, so it is not predicted"
def texts_glued_together(probabilities, texts):
    text = torch.cat(texts)
    nll = -probabilities[text[:-1], text[1:]].log().mean()
    return nll.item(), nll.exp().item()


# 04/cross-entropy


# "the mean over all targets that count"
def mean_of_the_texts_means(logits, targets):
    means = []
    for z, y in zip(logits, targets, strict=True):
        z, y = z[y >= 0], y[y >= 0]
        if len(y):
            log_p = z - z.logsumexp(dim=-1, keepdim=True)
            means.append(-log_p[torch.arange(len(y)), y].mean())
    return torch.stack(means).mean()


# "logits may be in the hundreds, all of them or a single one"
def tiny_probabilities_rounded_up(logits, targets):
    kept = targets >= 0
    z, y = logits[kept], targets[kept]
    p = (z - z.max(dim=1, keepdim=True).values).exp()
    p = p / p.sum(dim=1, keepdim=True)
    return -(p[torch.arange(len(y)), y] + 1e-9).log().mean()


# 04/sgd-step


# "each step uses the gradient of the mean loss at the table that the step before it left"
def gradient_of_the_first_table(table, x, y, learning_rate, steps):
    table = table.clone().requires_grad_()
    loss = F.cross_entropy(table[x].flatten(0, 1), y.flatten())
    (gradient,) = torch.autograd.grad(loss, table)
    table, losses = table.detach(), []
    for _ in range(steps):
        losses.append(F.cross_entropy(table[x].flatten(0, 1), y.flatten()).item())
        table = table - learning_rate * gradient
    return table, torch.tensor(losses)


# 04/sample


# "each row is drawn from its own logits, independently of the others"
def one_random_number_for_all_rows(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    cumulative = (logits / temperature).softmax(dim=-1).cumsum(dim=-1)
    u = torch.rand(1, generator=generator) * cumulative[:, -1:]
    return (cumulative <= u).sum(dim=-1)


# "a second call continues where the first one ended"
def generator_copied_by_its_seed(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    own = torch.Generator().manual_seed(generator.initial_seed())
    probabilities = (logits / temperature).softmax(dim=-1)
    return torch.multinomial(probabilities, 1, generator=own).squeeze(1)


# 04/generate


# "the model is shown the last block_size tokens"
def shown_one_token_less(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            shown = tokens[:, -max(1, model.block_size - 1) :]
            logits, _ = model(shown)
            drawn = torch.multinomial(logits[:, -1].softmax(dim=-1), 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


# 04/little-text


# "measure the mean loss of the whole validation split in nats"
def in_bits():
    return {"text": "shakespeare", "one_percent": 3.962, "ten_percent": 3.778, "everything": 3.581}


WRITTEN = {
    "04/probabilities": [smoothed_after_dividing, divisor_holds_k_once],
    "04/nll": [two_to_the_nats, texts_glued_together],
    "04/cross-entropy": [mean_of_the_texts_means, tiny_probabilities_rounded_up],
    "04/sgd-step": [gradient_of_the_first_table],
    "04/sample": [one_random_number_for_all_rows, generator_copied_by_its_seed],
    "04/generate": [shown_one_token_less],
    "04/little-text": [in_bits],
}

ASIDE = {
    "divisor_holds_k_once",
    "two_to_the_nats",
    "texts_glued_together",
    "tiny_probabilities_rounded_up",
    "one_random_number_for_all_rows",
}
