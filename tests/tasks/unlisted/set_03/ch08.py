"""Wrong answers to chapter 08 that no list names: the third set."""

import math
from dataclasses import dataclass

import torch
from torch import nn

# 08/config


@dataclass(frozen=True)
class ConfigThatShowsEverything:
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
                problems.append(f"{name} must be at least 1")
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head != 0:
            problems.append("n_head must divide n_embd")
        if not 0 <= self.dropout < 1:
            problems.append("dropout must be at least 0 and below 1")
        if problems:
            raise ValueError(f"{self}: " + "; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


def twice_the_number_of_branches(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        elif name in ends:
            nn.init.normal_(parameter, std=std / math.sqrt(2 * len(ends)))
        else:
            nn.init.normal_(parameter, std=std)


# 08/schedule


def falls_along_a_cosine(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * (1 - math.cos(math.pi * left / decay)) / 2
    return 1.0


# 08/top-k


def ties_within_a_thousandth(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1])[:, None] - 1)
    return logits.masked_fill(logits < last - 1e-3, -torch.inf).softmax(dim=-1)


# 08/top-p


def temperature_for_the_choice_only(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)
    kept = torch.zeros_like(kept).scatter(-1, order, kept)
    return logits.masked_fill(~kept, -torch.inf).softmax(dim=-1)


def share_of_the_likeliest(logits, temperature, p, least):
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    kept = (ranked >= p * ranked[:, :1]) | (torch.arange(logits.shape[-1]) < least)
    ranked = ranked * kept
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# 08/generate


def filled_up_to_count(model, tokens, count, stop, generator):
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
            tokens = torch.cat([tokens, drawn[:, None]], dim=1)
    model.train(was_training)
    return tokens


WRITTEN = {
    "08/config": [ConfigThatShowsEverything],
    "08/initialise": [twice_the_number_of_branches],
    "08/schedule": [falls_along_a_cosine],
    "08/top-k": [ties_within_a_thousandth],
    "08/top-p": [temperature_for_the_choice_only, share_of_the_likeliest],
    "08/generate": [filled_up_to_count],
}
