"""Wrong answers to chapter 08 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn

# 08/config


@dataclass(frozen=True)
class DivisionOnlyIfAllElseIsRight:
    """Asks whether n_head divides n_embd only if no other setting was wrong before."""

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
                problems.append(f"{name} = {getattr(self, name)}: must be at least 1")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        if not problems and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is not divisible by n_head = {self.n_head}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class OnlyZeroHeadsAreGuarded:
    """Guards division against n_head = 0 only, so a negative n_embd has a right n_head named."""

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
                problems.append(f"{name} = {getattr(self, name)}: must be at least 1")
        if self.n_head != 0 and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is not divisible by n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class WholeConfigInTheMessage:
    """Begins the message with the whole Config, which names the settings that are right as well."""

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
                problems.append(f"{name} = {getattr(self, name)}: must be at least 1")
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is not divisible by n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        if problems:
            raise ValueError(f"{self}: " + "; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


def spread_as_second_argument(model, ends, std):
    """Passes std to normal_ by position, where it is the mean; the deviation stays at 1."""
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std / math.sqrt(len(ends)))
        else:
            nn.init.normal_(parameter, std)


def two_branches_for_each_end(model, ends, std):
    """Takes the root of 2 · len(ends), as if each name in `ends` stood for a block of two."""
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std=std / math.sqrt(2 * len(ends)))
        else:
            nn.init.normal_(parameter, std=std)


def known_layers_only(model, ends, std):
    """Visits Linear, Embedding and LayerNorm layers only; a bare nn.Parameter keeps its values."""
    for path, part in model.named_modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            smaller = math.sqrt(len(ends)) if f"{path}.weight" in ends else 1
            nn.init.normal_(part.weight, std=std / smaller)
        if isinstance(part, nn.LayerNorm):
            nn.init.ones_(part.weight)
        if isinstance(part, nn.Linear | nn.LayerNorm) and part.bias is not None:
            nn.init.zeros_(part.bias)


# 08/schedule


def falls_towards_zero_with_a_floor(step, steps, warm_up, decay, final):
    """Falls towards 0 and stops at `final`, so steps are larger and the last ones are level."""
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return max(final, left / decay)
    return 1.0


def cosine_at_the_end(step, steps, warm_up, decay, final):
    """Falls along half a cosine as the chapter's schedule does, so not by equal amounts."""
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * (1 - math.cos(math.pi * left / decay)) / 2
    return 1.0


def fills_a_list_by_slices(step, steps, warm_up, decay, final):
    """Fills shares[-decay:] of a list, which for a decay of 0 empties the whole list."""
    shares = [1.0] * steps
    shares[:warm_up] = [(i + 1) / warm_up for i in range(warm_up)]
    shares[-decay:] = [1 - (1 - final) * (i + 1) / decay for i in range(decay)]
    return shares[step]


# 08/top-k


def never_the_whole_row(logits, k):
    """Clamps k to V - 1 before it subtracts 1, so a k of V or more still cuts the last symbol."""
    ordered = logits.sort(dim=-1, descending=True).values
    place = k.clamp(max=logits.shape[1] - 1).unsqueeze(1) - 1
    last = ordered.gather(1, place)
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


def clamps_the_callers_k(logits, k):
    """Uses clamp_ with an underscore, so that the caller's k is changed where it is above V."""
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp_(max=logits.shape[1]).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


def counts_ties_as_ahead(logits, k):
    """A symbol's rank counts all that are at least as likely, so ties at the k-th are all lost."""
    rank = (logits.unsqueeze(1) >= logits.unsqueeze(2)).sum(dim=-1)  # (B, V), 1 for the first
    return logits.masked_fill(rank > k.unsqueeze(1), -torch.inf).softmax(dim=-1)


# 08/top-p


def keeps_all_ties_with_the_last(logits, temperature, p, least):
    """Keeps all that are as likely as the last symbol of the set, so the set isn't the smallest."""
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked = probabilities.sort(dim=-1, descending=True).values
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)
    edge = ranked.masked_fill(~kept, torch.inf).amin(dim=-1, keepdim=True)
    probabilities = probabilities.masked_fill(probabilities < edge, 0.0)
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


def first_that_reaches_p(logits, temperature, p, least):
    """Finds the crossing by argmax, which is 0 where rounding keeps the sum below a p of 1."""
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    crossing = (ranked.cumsum(dim=-1) >= p).int().argmax(dim=-1, keepdim=True)  # (B, 1)
    count = (crossing + 1).clamp(min=least)
    ranked = ranked.masked_fill(torch.arange(logits.shape[-1]) >= count, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


def temperature_for_the_choice_only(logits, temperature, p, least):
    """Chooses the set at the temperature, but returns softmax(logits) within it, without one."""
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)
    kept = torch.zeros_like(kept).scatter(-1, order, kept)
    return logits.masked_fill(~kept, -torch.inf).softmax(dim=-1)


# 08/generate


def done_from_the_last_draw_only(model, tokens, count, stop, generator):
    """Sets `done` anew from what was drawn, before filling: a row that was done goes on writing."""
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if done.all():
                break
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator).squeeze(1)
            done = drawn == stop
            drawn = drawn.masked_fill(done, stop)
            tokens = torch.cat([tokens, drawn.unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


def leaves_before_appending(model, tokens, count, stop, generator):
    """Leaves the loop before the last symbols are appended, so the last row's stop is missing."""
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator).squeeze(1)
            drawn = drawn.masked_fill(done, stop)
            done = done | (drawn == stop)
            if done.all():
                break
            tokens = torch.cat([tokens, drawn.unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


def leaves_room_for_the_new_symbol(model, tokens, count, stop, generator):
    """Shows the model one symbol less than block_size, to leave room for the one to be written."""
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if done.all():
                break
            logits, _ = model(tokens[:, -(model.block_size - 1) :])
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator).squeeze(1)
            drawn = drawn.masked_fill(done, stop)
            done = done | (drawn == stop)
            tokens = torch.cat([tokens, drawn.unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


# 08/real-words


def looks_in_the_text():
    """Asks whether a word is in the text as a string, so that any part of a word counts as real."""
    return {"text": "shakespeare", "cool": 0.7885, "hot": 0.2512}


def without_punctuation_and_capitals():
    """Strips punctuation and lowers capitals in both, the words written and those of the text."""
    return {"text": "shakespeare", "cool": 0.5639, "hot": 0.1572}


def set_of_symbols():
    """Forgets split() for the training text: its set holds symbols, so only they are real words."""
    return {"text": "shakespeare", "cool": 0.0171, "hot": 0.0416}


WRITTEN = {
    "08/config": [
        DivisionOnlyIfAllElseIsRight,
        OnlyZeroHeadsAreGuarded,
        WholeConfigInTheMessage,
    ],
    "08/initialise": [spread_as_second_argument, two_branches_for_each_end, known_layers_only],
    "08/schedule": [falls_towards_zero_with_a_floor, cosine_at_the_end, fills_a_list_by_slices],
    "08/top-k": [never_the_whole_row, clamps_the_callers_k, counts_ties_as_ahead],
    "08/top-p": [
        keeps_all_ties_with_the_last,
        first_that_reaches_p,
        temperature_for_the_choice_only,
    ],
    "08/generate": [
        done_from_the_last_draw_only,
        leaves_before_appending,
        leaves_room_for_the_new_symbol,
    ],
    "08/real-words": [looks_in_the_text, without_punctuation_and_capitals, set_of_symbols],
}

ASIDE = {
    "WholeConfigInTheMessage",
    "clamps_the_callers_k",
    "fills_a_list_by_slices",
    "leaves_room_for_the_new_symbol",
    "set_of_symbols",
    "temperature_for_the_choice_only",
    "two_branches_for_each_end",
}
