"""Wrong answers to chapter 08 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn

# 08/config


@dataclass(frozen=True)
class WrongOnesByTheirValue:
    """Collects wrong settings in a dictionary by value: of several with one value, one is named."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        wrong = {}
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                wrong[getattr(self, name)] = name
        problems = [f"{name} = {value} is below 1" for value, name in wrong.items()]
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head:
            problems.append(f"n_head = {self.n_head} does not divide n_embd = {self.n_embd}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout} is not in [0, 1)")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


def again_in_every_module(model, ends, std):
    """Fills each module's parameters again under shorter names: `ends` lose their smaller std."""
    for module in model.modules():
        for name, parameter in module.named_parameters():
            if name.endswith("bias"):
                nn.init.zeros_(parameter)
            elif parameter.ndim == 1:
                nn.init.ones_(parameter)
            elif name in ends:
                nn.init.normal_(parameter, std=std / math.sqrt(len(ends)))
            else:
                nn.init.normal_(parameter, std=std)


# 08/schedule


def last_step_falls_without_decay(step, steps, warm_up, decay, final):
    """Divides by max(decay, 1): without a decay, the last step has `final` and not 1."""
    rise = (step + 1) / max(warm_up, 1)
    fall = final + (1 - final) * (steps - 1 - step) / max(decay, 1)
    return min(rise, 1.0, fall)


# 08/top-k


def k_clamped_like_a_place(logits, k):
    """Clamps k itself to V - 1, the last place: with k of V or more, the unlikeliest is cut."""
    V = logits.shape[1]
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(1, V - 1).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


# 08/top-p


def one_number_for_all_rows(logits, temperature, p, least):
    """Keeps as many symbols in every row as the row that needs the most of them."""
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    number = max(int((before < p).sum(dim=-1).max()), least)
    ranked[:, number:] = 0.0
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# 08/generate


def count_includes_the_prompt(model, tokens, count, stop, generator):
    """Takes count for the length of the whole text, prompt included, so too little is written."""
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        while tokens.shape[1] < count and not done.all():
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator)[:, 0]
            drawn[done] = stop
            done |= drawn == stop
            tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(was_training)
    return tokens


# 08/real-words


def split_at_single_spaces():
    """Uses split(" ") for both: words at a line break stay glued to the word behind it."""
    return {
        "text": "shakespeare",
        "cool": 0.5342,
        "hot": 0.0980,
    }


WRITTEN = {
    "08/config": [WrongOnesByTheirValue],
    "08/initialise": [again_in_every_module],
    "08/schedule": [last_step_falls_without_decay],
    "08/top-k": [k_clamped_like_a_place],
    "08/top-p": [one_number_for_all_rows],
    "08/generate": [count_includes_the_prompt],
    "08/real-words": [split_at_single_spaces],
}
