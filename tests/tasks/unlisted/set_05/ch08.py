"""Chapter 08, the fifth set: task -> wrong answers, each beside the sentence that it breaks."""

import math
from dataclasses import dataclass

import torch
from torch import nn

from course_lib import model as models

SIZES = ("vocab_size", "block_size", "n_layer", "n_head", "n_embd")


# "The message names each setting that is wrong": division is asked only if all else is right.
@dataclass(frozen=True)
class DivisionComesLast:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = [f"{name} = {getattr(self, name)}" for name in SIZES if getattr(self, name) < 1]
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}")
        if not problems and self.n_embd % self.n_head:
            problems.append(f"n_embd = {self.n_embd}, n_head = {self.n_head}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "n_head divides n_embd", and not the other way.
@dataclass(frozen=True)
class DividesTheOtherWay:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = [f"{name} = {getattr(self, name)}" for name in SIZES if getattr(self, name) < 1]
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_head % self.n_embd:
            problems.append(f"n_embd = {self.n_embd}, n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# The scaffold has `dropout: float = 0.0`.
@dataclass(frozen=True)
class DropsATenthByDefault:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.1

    def __post_init__(self):
        problems = [f"{name} = {getattr(self, name)}" for name in SIZES if getattr(self, name) < 1]
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head:
            problems.append(f"n_embd = {self.n_embd}, n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "`ends` lists the names of the matrices": a name that only contains one of them is none.
def ends_by_part_of_a_name(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif any(name.split(".")[-2:] == end.split(".")[-2:] for end in ends):
            nn.init.normal_(parameter, std=std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std=std)


# "normal, mean 0, standard deviation std"
def uniform_of_the_same_deviation(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            edge = math.sqrt(3) * std / (math.sqrt(len(ends)) if name in ends else 1)
            nn.init.uniform_(parameter, -edge, edge)


# "all steps between have 1", and with a decay of 0 the last step is one of them.
def last_step_is_final_in_any_case(step, steps, warm_up, decay, final):
    if step == steps - 1:
        return final
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * left / decay
    return 1.0


# "the last `decay` steps fall by equal amounts"
def falls_along_a_cosine(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * (1 - math.cos(math.pi * left / decay)) / 2
    return 1.0


# "k[b] may be larger than V; then the whole row stays."
def never_the_whole_row(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    place = (k - 1).clamp(max=logits.shape[1] - 2)
    last = ordered.gather(1, place.unsqueeze(1))
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


# "everything else is exactly 0"
def cut_to_minus_fifty(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1]).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last, -50.0).softmax(dim=-1)


# "A symbol that is exactly as likely as the k-th is kept as well": nearly is not exactly.
def nearly_as_likely_is_kept(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1]).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last - 0.01, -torch.inf).softmax(dim=-1)


# "your functions leave what they are given as it was"
def k_is_clamped_in_place(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp_(max=logits.shape[1]).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


# "At least the `least` likeliest symbols": these are the first columns.
def first_columns_are_kept(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (order < least)
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# "At least the `least` likeliest symbols are kept": of each row, not of the batch on average.
def least_is_asked_of_the_batch(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    kept = ranked.cumsum(dim=-1) - ranked < p
    kept[:, 0] = True
    if kept.sum() < least * len(kept):
        kept[:, :least] = True
    ranked = ranked * kept
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# "is afterwards in the mode that it was in": not where every row was done early.
def mode_is_lost_on_an_early_return(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            drawn = torch.multinomial(logits[:, -1].softmax(dim=-1), 1, generator=generator)
            drawn = drawn.squeeze(1).masked_fill(done, stop)
            done = done | (drawn == stop)
            tokens = torch.cat([tokens, drawn.unsqueeze(1)], dim=1)
            if done.all():
                return tokens
    model.train(was_training)
    return tokens


# "after `count` symbols at the latest": with a count of 0 it writes one.
def writes_at_least_one(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    written = 0
    with torch.no_grad():
        while True:
            logits, _ = model(tokens[:, -model.block_size :])
            drawn = torch.multinomial(logits[:, -1].softmax(dim=-1), 1, generator=generator)
            drawn = drawn.squeeze(1).masked_fill(done, stop)
            done = done | (drawn == stop)
            tokens = torch.cat([tokens, drawn.unsqueeze(1)], dim=1)
            written += 1
            if done.all() or written >= count:
                break
    model.train(was_training)
    return tokens


# "The model is shown as much of the text as it can read."
def shown_one_symbol_less(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if done.all():
                break
            logits, _ = model(tokens[:, -(model.block_size - 1) :])
            drawn = torch.multinomial(logits[:, -1].softmax(dim=-1), 1, generator=generator)
            drawn = drawn.squeeze(1).masked_fill(done, stop)
            done = done | (drawn == stop)
            tokens = torch.cat([tokens, drawn.unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


# "returns probabilities (N, V) of the next symbol after each context": here they sum to 1 over
# the contexts.
def softmax_over_the_contexts(batches, vocab_size, block_size):
    config = models.Config(vocab_size, block_size, n_layer=1, n_head=4, n_embd=64)
    model = models.fuse(models.GPT(config))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=len(batches))
    for x, y in batches:
        _, loss = model(x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()

    def predict(contexts):
        with torch.no_grad():
            logits, _ = model(contexts)
        return logits[:, -1].softmax(dim=0)

    return predict


# "the share of real words": in percent.
def percents():
    return {"text": "shakespeare", "cool": 55.29, "hot": 11.71}


WRITTEN = {
    "08/config": [DivisionComesLast, DividesTheOtherWay, DropsATenthByDefault],
    "08/initialise": [
        ends_by_part_of_a_name,
        uniform_of_the_same_deviation,
    ],
    "08/schedule": [last_step_is_final_in_any_case, falls_along_a_cosine],
    "08/top-k": [
        never_the_whole_row,
        cut_to_minus_fifty,
        nearly_as_likely_is_kept,
        k_is_clamped_in_place,
    ],
    "08/top-p": [
        first_columns_are_kept,
        least_is_asked_of_the_batch,
    ],
    "08/generate": [
        mode_is_lost_on_an_early_return,
        writes_at_least_one,
        shown_one_symbol_less,
    ],
    "08/train": [softmax_over_the_contexts],
    "08/real-words": [percents],
}

ASIDE = {
    "DivisionComesLast",
    "uniform_of_the_same_deviation",
    "never_the_whole_row",
    "cut_to_minus_fifty",
    "first_columns_are_kept",
}
