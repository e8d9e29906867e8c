"""Wrong answers to chapter 08 that no list names: the sixteenth set.

Each docstring says what the student did wrong.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn

# 08/config


@dataclass(frozen=True)
class DivisionOnlyIfAllElseIsRight:
    """Asks whether n_head divides n_embd only if no other setting is wrong, not even n_layer."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)} must be at least 1")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout} must be at least 0 and below 1")
        if not problems and self.n_embd % self.n_head != 0:
            problems.append(f"n_head = {self.n_head} does not divide n_embd = {self.n_embd}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


def deviation_passed_as_mean(model, ends, std):
    """Writes normal_(parameter, std): the second argument is the mean, the deviation stays 1."""
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


def falls_to_zero_but_not_below_final(step, steps, warm_up, decay, final):
    """Falls towards 0 and takes `final` as a lower bound, so the last steps do not fall evenly."""
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return max(final, left / decay)
    return 1.0


# 08/top-k


def limited_by_the_rows(logits, k):
    """Limits k to len(logits), which is the number of rows B, where V is meant."""
    ordered = logits.sort(dim=-1, descending=True).values
    place = k.clamp(max=len(logits)) - 1
    last = ordered.gather(1, place.clamp(max=logits.shape[1] - 1)[:, None])
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


# 08/top-p


def gathered_back(logits, temperature, p, least):
    """Returns the sorted values to their columns with gather(order), where scatter is needed."""
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)
    ranked = ranked * kept
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return ranked.gather(-1, order)


# 08/generate


def cuts_the_text_itself(model, tokens, count, stop, generator):
    """Cuts `tokens` to what the model can read, so the beginning is missing in what it returns."""
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if done.all():
                break
            tokens = tokens[:, -model.block_size :]
            logits, _ = model(tokens)
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)[:, 0]
            drawn = drawn.masked_fill(done, stop)
            done = done | (drawn == stop)
            tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(was_training)
    return tokens


# 08/real-words


def looked_up_in_the_text():
    """Asks whether a word occurs anywhere in the training text as a string, inside others too."""
    return {
        "text": "shakespeare",
        "cool": 0.8436,
        "hot": 0.2851,
    }


WRITTEN = {
    "08/config": [DivisionOnlyIfAllElseIsRight],
    "08/initialise": [deviation_passed_as_mean],
    "08/schedule": [falls_to_zero_but_not_below_final],
    "08/top-k": [limited_by_the_rows],
    "08/top-p": [gathered_back],
    "08/generate": [cuts_the_text_itself],
    "08/real-words": [looked_up_in_the_text],
}
