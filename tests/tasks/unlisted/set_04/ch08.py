"""Wrong answers to chapter 08 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from students.ch08_gpt.top_k import place_kept_inside_by_one_too_many
from torch import nn

from course_lib import model as models

# 08/config


def refuse(problems):
    if problems:
        raise ValueError("; ".join(problems))


SIZES = ("vocab_size", "block_size", "n_layer", "n_head", "n_embd")


@dataclass(frozen=True)
class Sizes:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "n_head divides n_embd"
@dataclass(frozen=True)
class DivisionTheOtherWay(Sizes):
    def __post_init__(self):
        problems = [
            f"{name} = {getattr(self, name)}: must be at least 1"
            for name in SIZES
            if getattr(self, name) < 1
        ]
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_head % self.n_embd:
            problems.append(f"n_embd = {self.n_embd}, n_head = {self.n_head}: no division")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        refuse(problems)


# "the first five settings are at least 1"
@dataclass(frozen=True)
class OnlyZeroIsRefused(Sizes):
    def __post_init__(self):
        problems = [
            f"{name} = {getattr(self, name)}: must be at least 1"
            for name in SIZES
            if not getattr(self, name)
        ]
        if self.n_head and self.n_embd % self.n_head:
            problems.append(f"n_embd = {self.n_embd}, n_head = {self.n_head}: no division")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        refuse(problems)


# 08/initialise


# "std divided by the root of how many branches there are", with "one name for each branch"
def two_names_taken_for_a_block(model, ends, std):
    blocks = max(1, len(ends) // 2)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            nn.init.normal_(parameter, std=std / math.sqrt(blocks) if name in ends else std)


# 08/schedule


# "the last decay steps fall by equal amounts; the last step of all has final"
def final_is_a_floor(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return max(final, left / decay)
    return 1.0


# 08/top-k


# "everything else is exactly 0", with "logits as low as −40"
def cut_to_minus_hundred(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1])[:, None] - 1)
    return torch.where(logits < last, -100.0, logits).softmax(dim=-1)


# 08/top-p


# "at least the least likeliest symbols are kept"
def least_counts_columns(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (order < least)
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# 08/generate


# "from then on it is filled with stop"
def filled_with_zeros(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if done.all():
                break
            logits, _ = model(tokens[:, -model.block_size :])
            p = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(p, 1, generator=generator).squeeze(1)
            drawn = drawn.masked_fill(done, 0)
            done = done | (drawn == stop)
            tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(was_training)
    return tokens


# "writing ends as soon as every row is done"
def ends_with_the_first_stop(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            p = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(p, 1, generator=generator)
            tokens = torch.cat([tokens, drawn], dim=1)
            if (drawn == stop).any():
                break
    model.train(was_training)
    return tokens


# 08/train


# "your loss on them has to be below 3.05 nats"
def small_constant_rate(batches, vocab_size, block_size):
    torch.manual_seed(0)
    config = models.Config(vocab_size, block_size, n_layer=1, n_head=4, n_embd=32)
    model = models.fuse(models.GPT(config))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for x, y in batches:
        logits, _ = model(x)
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def predict(contexts):
        with torch.no_grad():
            return model(contexts)[0][:, -1].softmax(dim=-1)

    return predict


# 08/real-words


# "the share of real words at temperature 0.5 (cool) and at 1.5 (hot)"
def hot_and_cool_exchanged():
    return {"text": "shakespeare", "cool": 0.1171, "hot": 0.5529}


WRITTEN = {
    "08/config": [DivisionTheOtherWay, OnlyZeroIsRefused],
    "08/initialise": [two_names_taken_for_a_block],
    "08/schedule": [final_is_a_floor],
    "08/top-k": [place_kept_inside_by_one_too_many, cut_to_minus_hundred],
    "08/top-p": [least_counts_columns],
    "08/generate": [filled_with_zeros, ends_with_the_first_stop],
    "08/train": [small_constant_rate],
    "08/real-words": [hot_and_cool_exchanged],
}

ASIDE = {
    "two_names_taken_for_a_block",
    "cut_to_minus_hundred",
    "filled_with_zeros",
    "hot_and_cool_exchanged",
}
