"""Wrong answers to chapter 04 that no list names: the third set."""

import torch
import torch.nn.functional as F

# 04/probabilities


def k_added_once_below(tokens, vocab_size, k):
    pairs = (tokens[:, :-1] * vocab_size + tokens[:, 1:]).flatten()
    counts = torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size)
    return (counts + k) / (counts.sum(dim=1, keepdim=True) + k)


# 04/nll


def perplexity_to_base_two(probabilities, texts):
    surprises = torch.cat([-probabilities[text[:-1], text[1:]].log() for text in texts])
    nll = surprises.mean().item()
    return nll, 2**nll


# 04/cross-entropy


def mean_of_the_texts_means(logits, targets):
    counted = targets >= 0
    z = logits - logits.max(dim=-1, keepdim=True).values
    log_probabilities = z - z.exp().sum(dim=-1, keepdim=True).log()
    losses = -log_probabilities.gather(2, targets.clamp(min=0)[:, :, None]).squeeze(2) * counted
    return (losses.sum(dim=1) / counted.sum(dim=1).clamp(min=1)).mean()


def a_little_added_before_the_logarithm(logits, targets):
    counted = targets >= 0
    z, y = logits[counted], targets[counted]
    powers = (z - z.max(dim=1, keepdim=True).values).exp()
    probabilities = powers / powers.sum(dim=1, keepdim=True)
    return -(probabilities[torch.arange(len(y)), y] + 1e-9).log().mean()


# 04/sgd-step


def gradient_rows_overwritten(table, x, y, learning_rate, steps):
    table, losses = table.clone(), []
    current, following = x.flatten(), y.flatten()
    for _ in range(steps):
        losses.append(F.cross_entropy(table[current], following).item())
        error = table[current].softmax(dim=-1)
        error[torch.arange(len(following)), following] -= 1
        gradient = torch.zeros_like(table)
        gradient[current] = error / len(following)
        table -= learning_rate * gradient
    return table, torch.tensor(losses)


# 04/sample


def noise_with_one_logarithm(logits, temperature, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    noise = -torch.rand(logits.shape, generator=generator).log()
    return (logits / temperature + noise).argmax(dim=-1)


# 04/generate


def mode_of_the_outer_module_only(model, tokens, count, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
    model.training = was_training
    return tokens


WRITTEN = {
    "04/probabilities": [k_added_once_below],
    "04/nll": [perplexity_to_base_two],
    "04/cross-entropy": [mean_of_the_texts_means, a_little_added_before_the_logarithm],
    "04/sgd-step": [gradient_rows_overwritten],
    "04/sample": [noise_with_one_logarithm],
    "04/generate": [mode_of_the_outer_module_only],
}
