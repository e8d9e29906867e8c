"""Wrong answers to chapter 04 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import torch

# 04/probabilities


def mean_of_the_texts_tables(tokens, vocab_size, k):
    """Makes a smoothed table for each text and takes their mean, instead of counting together."""
    tables = []
    for text in tokens:
        pairs = text[:-1] * vocab_size + text[1:]
        counts = torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size) + k
        tables.append(counts / counts.sum(dim=1, keepdim=True))
    return torch.stack(tables).mean(dim=0)


# 04/nll


def step_after_the_seam_left_out(probabilities, texts):
    """Joins the texts and leaves out the step after each seam, instead of the one across it."""
    texts = [text for text in texts if len(text) > 1]
    whole = torch.cat(texts)
    surprises = -probabilities[whole[:-1], whole[1:]].log()
    seams = torch.tensor([len(text) for text in texts]).cumsum(0)[:-1]
    counts = torch.ones(len(surprises), dtype=torch.bool)
    counts[seams] = False
    nll = surprises[counts].mean()
    return nll.item(), nll.exp().item()


# 04/cross-entropy


def largest_of_each_symbol(logits, targets):
    """Subtracts the largest logit over the positions of a text, because dim=1 is T and not V."""
    z = logits - logits.max(dim=1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=-1, keepdim=True).log()
    counted = targets >= 0
    chosen = log_probabilities.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    return -chosen[counted].mean()


# 04/sgd-step


def mean_for_each_row_of_the_table(table, x, y, learning_rate, steps):
    """Divides the gradient of each row by how often its symbol occurs, not by all guesses."""
    table, losses = table.clone(), []
    x, y = x.flatten(), y.flatten()
    V = len(table)
    counts = torch.bincount(x * V + y, minlength=V * V).view(V, V).float()
    often = counts.sum(dim=1, keepdim=True)
    for _ in range(steps):
        log_probabilities = table.log_softmax(dim=-1)
        losses.append(-log_probabilities[x, y].mean())
        gradient = (often > 0) * log_probabilities.exp() - counts / often.clamp(min=1)
        table = table - learning_rate * gradient
    return table, torch.stack(losses)


# 04/sample


def rank_instead_of_symbol(logits, temperature, generator):
    """Sorts the probabilities before the draw and returns the rank that was drawn as the symbol."""
    if temperature == 0:
        return logits.argmax(dim=-1)
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked = probabilities.sort(dim=-1, descending=True).values
    return torch.multinomial(ranked, 1, generator=generator).squeeze(1)


# 04/generate


def context_filled_up_with_zeros(model, tokens, count, generator):
    """Fills a short context up to block_size with zeros in front,
    so that it always has one size.
    """
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            context = tokens[:, -model.block_size :]
            missing = model.block_size - context.shape[1]
            front = torch.zeros(len(tokens), missing, dtype=tokens.dtype)
            logits, _ = model(torch.cat([front, context], dim=1))
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.train(was_training)
    return tokens


# 04/little-text


def loss_on_what_was_counted():
    """Measured the loss on the part of the training split that was counted, not on validation."""
    return {
        "text": "shakespeare",
        "one_percent": 2.488,
        "ten_percent": 2.395,
        "everything": 2.455,
    }


WRITTEN = {
    "04/probabilities": [mean_of_the_texts_tables],
    "04/nll": [step_after_the_seam_left_out],
    "04/cross-entropy": [largest_of_each_symbol],
    "04/sgd-step": [mean_for_each_row_of_the_table],
    "04/sample": [rank_instead_of_symbol],
    "04/generate": [context_filled_up_with_zeros],
    "04/little-text": [loss_on_what_was_counted],
}
