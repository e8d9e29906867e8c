"""Wrong answers to chapter 08 that no list names: the tenth set.

The comment before each says which sentence of the statement it breaks.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn

# 08/config


# Raises before dividing, to be safe from a division by 0: "reports *everything* that is wrong in a
# single `ValueError`"
@dataclass(frozen=True)
class RaisesBeforeItDivides:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        errors = []
        for name in ["vocab_size", "block_size", "n_layer", "n_head", "n_embd"]:
            value = getattr(self, name)
            if value < 1:
                errors.append(f"{name}={value} must be at least 1")
        if self.dropout < 0 or self.dropout >= 1:
            errors.append(f"dropout={self.dropout} must be in [0, 1)")
        if errors:
            raise ValueError(", ".join(errors))
        if self.n_embd % self.n_head != 0:
            raise ValueError(f"n_head={self.n_head} must divide n_embd={self.n_embd}")

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


# From statistics, where a normal distribution is given by its variance: "normal, mean 0, standard
# deviation `std`"
def variance_where_torch_wants_a_deviation(model, ends, std):
    variance = std**2
    for name, p in model.named_parameters():
        if p.ndim >= 2:
            v = variance / len(ends) if name in ends else variance
            nn.init.normal_(p, 0.0, v)
        elif name.endswith("bias"):
            nn.init.zeros_(p)
        else:
            nn.init.ones_(p)


# 08/schedule


# Takes `final` for a floor under a fall to 0: "the last `decay` steps fall by equal amounts"
def final_as_a_floor(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    if step >= steps - decay:
        return max(final, (steps - 1 - step) / decay)
    return 1.0


# 08/top-k


# From Java, goes through the rows and cuts in what is a view: "your functions leave what they are
# given as it was"
def cuts_in_the_rows_of_the_caller(logits, k):
    B, V = logits.shape
    for b in range(B):
        row = logits[b]
        n = min(int(k[b]), V)
        smallest = torch.topk(row, n).values[-1]
        row[row < smallest] = -float("inf")
    return torch.softmax(logits, dim=-1)


# 08/top-p


# Adapted a snippet that always keeps one symbol: "At least the `least` likeliest symbols are kept,
# however small p is."
def snippet_that_keeps_one(logits, temperature, p, least):
    logits = logits / temperature
    sorted_logits, sorted_indices = torch.sort(logits, descending=True)
    cumulative_probs = torch.cumsum(torch.softmax(sorted_logits, dim=-1), dim=-1)
    remove = cumulative_probs >= p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    indices_to_remove = remove.scatter(-1, sorted_indices, remove)
    return torch.softmax(logits.masked_fill(indices_to_remove, -math.inf), dim=-1)


# 08/generate


# Leaves the loop between drawing and writing: "until each row has written the symbol `stop`"
def leaves_before_the_last_stop(model, tokens, count, stop, generator):
    mode = model.training
    model.eval()
    done = torch.zeros(tokens.shape[0], dtype=torch.bool)
    for _ in range(count):
        with torch.no_grad():
            logits, _ = model(tokens[:, -model.block_size :])
        probs = torch.softmax(logits[:, -1, :], dim=-1)
        new = torch.multinomial(probs, num_samples=1, generator=generator)
        new[done] = stop
        done = done | (new[:, 0] == stop)
        if done.all():
            break
        tokens = torch.cat((tokens, new), dim=1)
    model.train(mode)
    return tokens


WRITTEN = {
    "08/config": [RaisesBeforeItDivides],
    "08/initialise": [variance_where_torch_wants_a_deviation],
    "08/schedule": [final_as_a_floor],
    "08/top-k": [cuts_in_the_rows_of_the_caller],
    "08/top-p": [snippet_that_keeps_one],
    "08/generate": [leaves_before_the_last_stop],
}
