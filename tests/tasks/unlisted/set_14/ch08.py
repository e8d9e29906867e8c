"""Wrong answers to chapter 08 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn

# 08/config


@dataclass(frozen=True)
class DivisionOnlyIfNothingElse:
    """Asks whether n_head divides n_embd only if no other setting was found wrong before."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            value = getattr(self, name)
            if value < 1:
                problems.append(f"{name} is {value}, but must be at least 1")
        if not problems and self.n_embd % self.n_head:
            problems.append(f"n_head = {self.n_head} does not divide n_embd = {self.n_embd}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout is {self.dropout}, but must be in [0, 1)")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


def std_given_as_mean(model, ends, std):
    """Calls nn.init.normal_(parameter, std): the second argument is the mean; the std stays 1."""
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std)


# 08/schedule


def falls_to_zero_with_floor(step, steps, warm_up, decay, final):
    """Falls by 1 / decay a step, towards 0, and is held at `final` from below by max()."""
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return max(final, left / decay)
    return 1.0


# 08/top-k


def ranks_distinct_values(logits, k):
    """Counts equal logits as one rank, so ties above the k-th place let further symbols in."""
    V = logits.shape[1]
    kept = torch.zeros_like(logits, dtype=torch.bool)
    for b in range(len(logits)):
        values = logits[b].unique(sorted=True).flip(0)
        place = min(int(k[b]), len(values), V) - 1
        kept[b] = logits[b] >= values[place]
    return logits.masked_fill(~kept, float("-inf")).softmax(dim=-1)


# 08/top-p


def softmax_of_probabilities(logits, temperature, p, least):
    """Renormalizes the kept probabilities by a second softmax, which makes them nearly equal."""
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = before < p
    kept[:, :least] = True
    ranked = ranked.masked_fill(~kept, -torch.inf).softmax(dim=-1)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# 08/generate


def returns_from_the_loop(model, tokens, count, stop, generator):
    """Returns from inside the loop once all rows are done, and leaves the model in eval mode."""
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits[:, -1].softmax(dim=-1)
            new = torch.multinomial(probabilities, 1, generator=generator)
            new[done] = stop
            tokens = torch.cat([tokens, new], dim=1)
            done |= new[:, 0] == stop
            if done.all():
                return tokens
    model.train(was_training)
    return tokens


# 08/real-words


def words_found_in_the_string():
    """Asks `word in text` of the training string, so every piece of a longer word is real too."""
    return {
        "text": "shakespeare",
        "cool": 0.7885,
        "hot": 0.2512,
    }


WRITTEN = {
    "08/config": [DivisionOnlyIfNothingElse],
    "08/initialise": [std_given_as_mean],
    "08/schedule": [falls_to_zero_with_floor],
    "08/top-k": [ranks_distinct_values],
    "08/top-p": [softmax_of_probabilities],
    "08/generate": [returns_from_the_loop],
    "08/real-words": [words_found_in_the_string],
}
