"""Wrong answers to chapter 08, second set."""

import math
from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class _Config:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class ConfigThatDividesByZero(_Config):
    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)}: must be at least 1")
        if self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is not divisible by n_head = {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))


@dataclass(frozen=True)
class ConfigWithoutValues(_Config):
    def __post_init__(self):
        problems = [
            f"{name} must be at least 1"
            for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd")
            if getattr(self, name) < 1
        ]
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head != 0:
            problems.append("n_head must divide n_embd")
        if not 0 <= self.dropout < 1:
            problems.append("dropout must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))


@dataclass(frozen=True)
class ConfigThatAllowsFullDropout(_Config):
    def __post_init__(self):
        problems = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                problems.append(f"{name} = {getattr(self, name)}: must be at least 1")
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head != 0:
            problems.append(f"n_embd = {self.n_embd} is not divisible by n_head = {self.n_head}")
        if self.dropout < 0 or self.dropout > 1:
            problems.append(f"dropout = {self.dropout}: must be at least 0 and below 1")
        if problems:
            raise ValueError("; ".join(problems))


def initialized_anew(model, ends, std):
    """Gives every linear layer a new parameter, so that nothing is shared any more."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            scale = math.sqrt(len(ends)) if f"{name}.weight" in ends else 1
            module.weight = nn.Parameter(torch.randn_like(module.weight) * std / scale)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=std)


def initialized_with_the_variance(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            variance = std / math.sqrt(len(ends)) if name in ends else std
            nn.init.normal_(parameter, std=math.sqrt(variance))


def initialized_evenly(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 1:
            nn.init.ones_(parameter)
        else:
            bound = std / math.sqrt(len(ends)) if name in ends else std
            nn.init.uniform_(parameter, -bound, bound)


def share_that_ends_above_final(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - step
    if left <= decay:
        return final + (1 - final) * left / decay
    return 1.0


def share_along_a_cosine(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return final + (1 - final) * (1 - math.cos(math.pi * left / decay)) / 2
    return 1.0


def share_that_decays_at_once(step, steps, warm_up, decay, final):
    """Falls right behind the warm-up, then stays at the bottom."""
    if step < warm_up:
        return (step + 1) / warm_up
    done = step - warm_up + 1
    if done <= decay:
        return 1 - (1 - final) * done / decay
    return final if decay else 1.0


def top_k_of_one_symbol_fewer(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1] - 1).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


def top_k_without_the_last(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1]).unsqueeze(1) - 1)
    keep = (logits > last) | (logits == ordered[:, :1])
    return logits.masked_fill(~keep, -torch.inf).softmax(dim=-1)


def top_k_of_the_whole_batch(logits, k):
    """The threshold of a row is that of the largest k."""
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered[:, min(int(k.max()), logits.shape[1]) - 1, None]
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


def top_p_with_one_more(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    kept = (ranked.cumsum(dim=-1) - ranked < p) | (torch.arange(logits.shape[-1]) <= least)
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


def top_p_as_a_share_of_the_likeliest(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    kept = (ranked >= p * ranked[:, :1]) | (torch.arange(logits.shape[-1]) < least)
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


def top_p_put_back_by_order(logits, temperature, p, least):
    """Puts the sorted probabilities back with gather where scatter is needed."""
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    kept = (ranked.cumsum(dim=-1) - ranked < p) | (torch.arange(logits.shape[-1]) < least)
    ranked = torch.where(kept, ranked, 0.0)
    return (ranked / ranked.sum(dim=-1, keepdim=True)).gather(-1, order)


def _write(model, tokens, count, stop, generator, over, fill):
    was_training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if over(done):
                break
            logits, _ = model(tokens[:, -model.block_size :])
            probabilities = logits[:, -1].softmax(dim=-1)
            drawn = torch.multinomial(probabilities, 1, generator=generator).squeeze(1)
            drawn = drawn.masked_fill(done, fill)
            done = done | (drawn == stop)
            tokens = torch.cat([tokens, drawn.unsqueeze(1)], dim=1)
    model.train(was_training)
    return tokens


def write_until_one_is_done(model, tokens, count, stop, generator):
    return _write(model, tokens, count, stop, generator, lambda done: done.any(), stop)


def write_zeros_behind_the_stop(model, tokens, count, stop, generator):
    fill = 0 if stop else 1
    return _write(model, tokens, count, stop, generator, lambda done: done.all(), fill)


def write_to_the_last_symbol(model, tokens, count, stop, generator):
    return _write(model, tokens, count, stop, generator, lambda done: False, stop)


def trained_backwards(batches, vocab_size, block_size):
    """Counts pairs, but takes P(current | next) for P(next | current)."""
    counts = torch.ones(vocab_size, vocab_size)
    for x, y in batches:
        pairs = torch.bincount((x * vocab_size + y).flatten(), minlength=vocab_size**2)
        counts += pairs.view(vocab_size, vocab_size)
    table = counts / counts.sum(dim=0, keepdim=True)
    return lambda contexts: table.T[contexts[:, -1]]


def words_that_are_not_real():
    return {"text": "shakespeare", "cool": 0.4471, "hot": 0.8829}


WRITTEN = {
    "08/config": [ConfigThatDividesByZero, ConfigWithoutValues, ConfigThatAllowsFullDropout],
    "08/initialise": [initialized_anew, initialized_with_the_variance, initialized_evenly],
    "08/schedule": [
        share_that_ends_above_final,
        share_along_a_cosine,
        share_that_decays_at_once,
    ],
    "08/top-k": [top_k_of_one_symbol_fewer, top_k_without_the_last, top_k_of_the_whole_batch],
    "08/top-p": [
        top_p_with_one_more,
        top_p_as_a_share_of_the_likeliest,
        top_p_put_back_by_order,
    ],
    "08/generate": [
        write_until_one_is_done,
        write_zeros_behind_the_stop,
        write_to_the_last_symbol,
    ],
    "08/train": [trained_backwards],
    "08/real-words": [words_that_are_not_real],
}

ASIDE = {
    "ConfigThatAllowsFullDropout",
    "initialized_evenly",
    "share_that_decays_at_once",
    "top_k_of_the_whole_batch",
    "top_p_put_back_by_order",
    "write_to_the_last_symbol",
}
