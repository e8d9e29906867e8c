"""Wrong answers to chapter 08 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn

# 08/config


# "reports everything that is wrong": here the dropout is asked about only where the heads fit
@dataclass(frozen=True)
class DropoutOnlyIfHeadsFit:
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
                problems.append(f"{name} = {getattr(self, name)} is below 1")
        if min(self.n_head, self.n_embd) >= 1 and self.n_embd % self.n_head:
            problems.append(f"n_head = {self.n_head} does not divide n_embd = {self.n_embd}")
        elif not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout} is not in [0, 1)")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "names each setting that is wrong [...] and no setting that is right"
@dataclass(frozen=True)
class NamesWhatItShouldDivide:
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
                problems.append(f"{name} = {getattr(self, name)} must be at least 1")
        if self.n_head < 1 or (self.n_embd >= 1 and self.n_embd % self.n_head):
            problems.append(f"n_head = {self.n_head} must divide n_embd = {self.n_embd}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout} must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "everything that is wrong in a single ValueError": a length that is wrong hides the heads
@dataclass(frozen=True)
class HeadsOnlyIfNothingElse:
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
                problems.append(f"{name} = {getattr(self, name)}: at least 1, please")
        if not problems and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} does not split into n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: at least 0 and below 1, please")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# "by its name and with its value": of a dropout of 1.04 the message says 1.0
@dataclass(frozen=True)
class RoundedDropout:
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
                problems.append(f"{name} = {getattr(self, name)} is too small")
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is no multiple of n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout:.1f} is no share")
        if problems:
            raise ValueError("\n".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


# "shares its matrix with the token embedding and must still do so afterwards"
def fresh_parameters(model, ends, std):
    for path, module in model.named_modules():
        for name, old in list(module.named_parameters(recurse=False)):
            if name.endswith("bias"):
                new = torch.zeros_like(old)
            elif old.ndim == 1:
                new = torch.ones_like(old)
            elif f"{path}.{name}".lstrip(".") in ends:
                new = torch.randn_like(old) * std / math.sqrt(len(ends))
            else:
                new = torch.randn_like(old) * std
            setattr(module, name, nn.Parameter(new.detach()))


# "normal, mean 0, standard deviation std": cut at two deviations it is a smaller one
def cut_at_two_deviations(model, ends, std):
    for name, parameter in model.named_parameters():
        wanted = std / math.sqrt(len(ends)) if name in ends else std
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            nn.init.trunc_normal_(parameter, std=wanted, a=-2 * wanted, b=2 * wanted)


# "ends lists the names of the matrices with which branches end": whole names, not their last part
def any_name_that_ends_so(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name.endswith(tuple(ends)):
            nn.init.normal_(parameter, std=std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std=std)


# 08/schedule


# "the last decay steps fall by equal amounts": here the first of them has not fallen at all
def falls_from_full_height(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * left / max(decay - 1, 1)
    return 1.0


# "fall by equal amounts": here by equal factors
def falls_by_equal_factors(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final ** ((decay - left) / decay)
    return 1.0


# "the first step has 1 / warm_up": also where that is less than `final`
def never_below_final(step, steps, warm_up, decay, final):
    share = 1.0
    if step < warm_up:
        share = (step + 1) / warm_up
    elif steps - 1 - step < decay:
        share = final + (1 - final) * (steps - 1 - step) / decay
    return max(share, final)


# 08/top-k


# "row b keeps its own k[b] likeliest symbols": symbols, not values; two that tie are two
def k_distinct_values(logits, k):
    cut = logits.clone()
    for b, row in enumerate(logits):
        values = row.unique().flip(0)
        last = values[min(int(k[b]), len(values)) - 1]
        cut[b, row < last] = -torch.inf
    return cut.softmax(dim=-1)


# "its own k[b]": the largest k of the batch decides for all
def largest_k_for_all(logits, k):
    V = logits.shape[1]
    last = logits.topk(min(int(k.max()), V), dim=-1).values[:, -1:]
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


# "everything else is exactly 0", also where what is kept is at −40
def cut_to_minus_120(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, (k - 1).clamp(max=logits.shape[1] - 1)[:, None])
    return logits.masked_fill(logits < last, -120.0).softmax(dim=-1)


# "k[b] may be larger than V; then the whole row stays"
def clamped_one_too_low(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    place = k.clamp(max=logits.shape[1] - 1) - 1
    last = ordered.gather(1, place.clamp(min=0)[:, None])
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


# 08/top-p


# "the smallest set of likeliest symbols whose probabilities together reach p": here what is cut
# reaches p
def tail_of_p(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1)
    cut = ranked.cumsum(dim=-1) <= p
    cut[:, -least:] = False
    ranked = ranked.masked_fill(cut, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# "The temperature comes first: the set is chosen from softmax(logits / temperature)"
def set_before_temperature(logits, temperature, p, least):
    ranked, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)
    kept = torch.zeros_like(kept).scatter(-1, order, kept)
    return (logits / temperature).masked_fill(~kept, -torch.inf).softmax(dim=-1)


# "Each row keeps the smallest set": what ties with the last is kept in task 4, not here
def ties_are_kept(logits, temperature, p, least):
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked = probabilities.sort(dim=-1, descending=True).values
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)
    last = ranked.masked_fill(~kept, torch.inf).amin(dim=-1, keepdim=True)
    probabilities = probabilities.masked_fill(probabilities < last, 0.0)
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


# "whose probabilities together reach p": a set that has exactly p has reached it
def reached_is_not_enough(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before <= p) | (torch.arange(logits.shape[-1]) < least)
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# 08/generate


# "Continue a batch of prompts until each row has written the symbol stop": the last one too
@torch.no_grad()
def last_stop_left_out(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        drawn = torch.multinomial(logits[:, -1].softmax(dim=-1), 1, generator=generator)[:, 0]
        drawn = drawn.masked_fill(done, stop)
        done |= drawn == stop
        if done.all():
            break
        tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(was_training)
    return tokens


# "Writing ends as soon as every row is done": here the rest is filled up to `count`
@torch.no_grad()
def filled_up_to_count(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    B, T = tokens.shape
    text = torch.cat([tokens, torch.full((B, count), stop)], dim=1)
    done = torch.zeros(B, dtype=torch.bool)
    for end in range(T, T + count):
        if done.all():
            break
        logits, _ = model(text[:, max(0, end - model.block_size) : end])
        drawn = torch.multinomial(logits[:, -1].softmax(dim=-1), 1, generator=generator)[:, 0]
        text[:, end] = drawn.masked_fill(done, stop)
        done |= text[:, end] == stop
    model.train(was_training)
    return text


# "The model is shown as much of the text as it can read": here one token less
@torch.no_grad()
def room_for_the_new_symbol(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    seen = max(1, model.block_size - 1)
    done = torch.zeros(len(tokens), dtype=torch.bool)
    for _ in range(count):
        if done.all():
            break
        logits, _ = model(tokens[:, -seen:])
        drawn = torch.multinomial(logits[:, -1].softmax(dim=-1), 1, generator=generator)[:, 0]
        drawn = drawn.masked_fill(done, stop)
        done |= drawn == stop
        tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(was_training)
    return tokens


WRITTEN = {
    "08/config": [
        DropoutOnlyIfHeadsFit,
        NamesWhatItShouldDivide,
        HeadsOnlyIfNothingElse,
        RoundedDropout,
    ],
    "08/initialise": [
        fresh_parameters,
        cut_at_two_deviations,
        any_name_that_ends_so,
    ],
    "08/schedule": [falls_from_full_height, falls_by_equal_factors, never_below_final],
    "08/top-k": [k_distinct_values, largest_k_for_all, cut_to_minus_120, clamped_one_too_low],
    "08/top-p": [tail_of_p, set_before_temperature, ties_are_kept, reached_is_not_enough],
    "08/generate": [last_stop_left_out, filled_up_to_count, room_for_the_new_symbol],
}

ASIDE = {
    "HeadsOnlyIfNothingElse",
    "any_name_that_ends_so",
    "room_for_the_new_symbol",
}
