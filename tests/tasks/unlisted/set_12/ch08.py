"""Wrong answers to chapter 08 that no list names: the twelfth set.

Each docstring says what the student did wrong. 08/train is left out.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn

# 08/config


@dataclass(frozen=True)
class NamesWhatHeadsMustDivide:
    """Explains a wrong n_head with n_embd, which heads must divide,
    and so names a right setting.
    """

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} is {getattr(self, name)}, but must be at least 1")
        if self.n_head < 1:
            problems.append(f"n_head is {self.n_head}, but must be at least 1 and divide n_embd")
        elif self.n_embd >= 1 and self.n_embd % self.n_head:
            problems.append(f"n_head is {self.n_head} and does not divide n_embd, {self.n_embd}")
        if self.dropout < 0 or self.dropout >= 1:
            problems.append(f"dropout is {self.dropout}, but must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


def all_of_a_norm_is_one(model, ends, std):
    """Sets all parameters of each norm to 1 at the end, its bias as well."""
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            nn.init.zeros_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std=std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std=std)
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            for parameter in module.parameters():
                nn.init.ones_(parameter)


# 08/schedule


def falls_towards_zero_and_stops(step, steps, warm_up, decay, final):
    """Falls as if the end were 0 and stops at final, so the steps of the fall aren't equal."""
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return max(final, left / decay)
    return 1.0


# 08/top-k


def k_different_logits(logits, k):
    """Counts logits that are equal as one, and keeps the k likeliest different values."""
    rows = []
    for row, number in zip(logits, k.tolist(), strict=True):
        values = torch.unique(row).flip(0)
        last = values[min(number, len(values)) - 1]
        rows.append(row.masked_fill(row < last, -torch.inf).softmax(dim=-1))
    return torch.stack(rows)


# 08/top-p


def least_of_the_first_columns(logits, temperature, p, least):
    """Brings the mask back to the columns first, and then keeps the columns 0 … least − 1."""
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = torch.zeros_like(before, dtype=torch.bool).scatter(-1, order, before < p)
    kept |= torch.arange(logits.shape[-1]) < least
    probabilities = probabilities * kept
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


# 08/generate


def mode_forgotten_when_done_early(model, tokens, count, stop, generator):
    """Returns from inside the loop when all rows are done, and so skips restoring the mode."""
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)[:, 0]
            drawn[done] = stop
            done |= drawn == stop
            tokens = torch.cat([tokens, drawn[:, None]], dim=1)
            if done.all():
                return tokens
    model.train(was_training)
    return tokens


# 08/real-words


def pieces_of_the_text():
    """Asked whether a word is in the text, a string, so that pieces of words are real as well."""
    return {"text": "shakespeare", "cool": 0.8273, "hot": 0.2554}


WRITTEN = {
    "08/config": [NamesWhatHeadsMustDivide],
    "08/initialise": [all_of_a_norm_is_one],
    "08/schedule": [falls_towards_zero_and_stops],
    "08/top-k": [k_different_logits],
    "08/top-p": [least_of_the_first_columns],
    "08/generate": [mode_forgotten_when_done_early],
    "08/real-words": [pieces_of_the_text],
}
