"""Wrong answers to chapter 08 that no list names: the ninth set.

The comment before each says who the student is, and which sentence of the statement it breaks.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn

# 08/config


# wants to be helpful and shows the whole of it: the message names "no setting that is right"
@dataclass(frozen=True)
class ShowsAllSettings:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        problems = []
        for name in ["vocab_size", "block_size", "n_layer", "n_head", "n_embd"]:
            value = getattr(self, name)
            if value < 1:
                problems.append(f"{name} is {value}, but must be at least 1")
        if min(self.n_head, self.n_embd) >= 1 and self.n_embd % self.n_head:
            problems.append(f"n_head {self.n_head} does not divide n_embd {self.n_embd}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout is {self.dropout}, but must be in [0, 1)")
        if problems:
            raise ValueError(f"{self} is wrong: " + ", ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# goes on with `elif` where each question stands alone: "reports *everything* that is wrong"
@dataclass(frozen=True)
class DropoutIfTheHeadsFit:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        errors = []
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if getattr(self, name) < 1:
                errors.append(f"{name}={getattr(self, name)} is below 1")
        if self.n_head > 0 and self.n_embd > 0 and self.n_embd % self.n_head != 0:
            errors.append(f"n_embd={self.n_embd} is no multiple of n_head={self.n_head}")
        elif self.dropout < 0 or self.dropout >= 1:
            errors.append(f"dropout={self.dropout} is not in 0 … 1")
        if errors:
            raise ValueError("\n".join(errors))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


# adapts the chapter's lines and keeps its 2: "`std` divided by the root of how many branches there
# are", which are as many as there are `ends`
def root_of_twice_the_ends(model, ends, std):
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.dim() < 2:
            nn.init.ones_(parameter)
        else:
            scale = std / math.sqrt(2 * len(ends)) if name in ends else std
            nn.init.normal_(parameter, mean=0.0, std=scale)


# comes from NumPy and assigns new arrays: "The output layer shares its matrix with the token
# embedding and must still do so afterwards"
def new_matrices_module_by_module(model, ends, std):
    for path, module in model.named_modules():
        for key, parameter in list(module.named_parameters(recurse=False)):
            name = f"{path}.{key}" if path else key
            if key == "bias":
                new = torch.zeros_like(parameter)
            elif parameter.ndim == 1:
                new = torch.ones_like(parameter)
            else:
                new = std * torch.randn(parameter.shape)
                if name in ends:
                    new = new / len(ends) ** 0.5
            setattr(module, key, nn.Parameter(new))


# asks in the wrong order, so that no bias is left for the second question: "Biases are 0"
def vectors_are_one_first(model, ends, std):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1:
                parameter.fill_(1.0)
            elif name.endswith("bias"):
                parameter.fill_(0.0)
            elif name in ends:
                parameter.normal_(0.0, std / math.sqrt(len(ends)))
            else:
                parameter.normal_(0.0, std)


# 08/schedule


# comes from NumPy and draws the curve with `linspace`: "the last `decay` steps fall", the first of
# them too
def first_of_the_last_is_full(step, steps, warm_up, decay, final):
    up = torch.linspace(1 / max(warm_up, 1), 1, warm_up)
    down = torch.linspace(1, final, decay)
    level = torch.ones(steps - warm_up - decay)
    return torch.cat([up, level, down])[step].item()


# takes the rise from the course's library: "the first step has `1 / warm_up`, the last one of them
# 1"
def rise_of_the_library(step, steps, warm_up, decay, final):
    if step < warm_up:
        return min(1.0, (step + 1) / (warm_up + 1))
    if step >= steps - decay:
        done = (step + 1 - (steps - decay)) / decay
        return 1 - (1 - final) * done
    return 1.0


# 08/top-k


# comes from NumPy and takes the order of a sort for the ranks: "row b keeps its own `k[b]`
# likeliest symbols"
def order_taken_for_rank(logits, k):
    rank = logits.argsort(dim=-1, descending=True)  # (B, V)
    return logits.masked_fill(rank >= k[:, None], -torch.inf).softmax(dim=-1)


# adapts the lines of minGPT, which write into what they are given: "your functions leave what they
# are given as it was"
def cut_in_the_callers_logits(logits, k):
    v, _ = torch.topk(logits, logits.size(-1))
    last = v.gather(1, k.clamp(max=logits.size(-1))[:, None] - 1)
    logits[logits < last] = -float("inf")
    return torch.softmax(logits, dim=-1)


# comes from Keras and multiplies with a mask before the softmax: "everything else is exactly 0"
def logits_times_mask(logits, k):
    V = logits.shape[-1]
    ordered, _ = torch.sort(logits, dim=-1, descending=True)
    places = torch.clamp(k, max=V) - 1
    smallest = ordered[torch.arange(len(k)), places].unsqueeze(-1)
    mask = (logits >= smallest).float()
    return torch.softmax(logits * mask, dim=-1)


# 08/top-p


# adapts the lines of a well-known library, and moves by `least` what was moved by one: "Each row
# keeps the smallest set of likeliest symbols whose probabilities together reach `p`"
def moved_by_the_least(logits, temperature, p, least):
    logits = logits / temperature
    sorted_logits, sorted_indices = torch.sort(logits, descending=True)
    cumulative = sorted_logits.softmax(dim=-1).cumsum(dim=-1)
    remove = cumulative >= p
    remove[..., least:] = remove[..., :-least].clone()
    remove[..., :least] = False
    remove = remove.scatter(1, sorted_indices, remove)
    return logits.masked_fill(remove, -float("inf")).softmax(dim=-1)


# brings the sorted values back with the order that sorted them: "column j belongs to symbol j"
def sorted_a_second_time(logits, temperature, p, least):
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ranked, order = torch.sort(probabilities, dim=-1, descending=True)
    keep = torch.cumsum(ranked, dim=-1) - ranked < p
    keep[:, :least] = True
    ranked = ranked * keep
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return ranked.gather(-1, order)


# in a hurry, chooses the set from one distribution and returns another: "The temperature comes
# first", and what is kept has the probabilities from which it was chosen
def temperature_for_the_set_alone(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(-1) - ranked
    cut = before >= p
    cut[:, :least] = False
    cut = torch.zeros_like(cut).scatter(-1, order, cut)
    return logits.masked_fill(cut, -torch.inf).softmax(-1)


# 08/generate


# shortens the text itself to what the model can read: "The text may grow longer than `block_size`"
def text_as_long_as_the_window(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    done = torch.zeros(tokens.shape[0], dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if done.all():
                break
            tokens = tokens[:, -model.block_size :]
            logits, _ = model(tokens)
            probs = torch.softmax(logits[:, -1], dim=-1)
            new = torch.multinomial(probs, 1, generator=generator)[:, 0]
            new[done] = stop
            done |= new == stop
            tokens = torch.cat([tokens, new[:, None]], dim=1)
    model.train(was_training)
    return tokens


# writes on and fills afterwards: "Writing ends as soon as every row is done"
def filled_after_writing(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    T = tokens.shape[1]
    text = tokens
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(text[:, -model.block_size :])
            drawn = torch.multinomial(logits[:, -1].softmax(dim=-1), 1, generator=generator)
            text = torch.cat([text, drawn], dim=1)
            if (drawn == stop).all():
                break
    model.train(was_training)
    written = text[:, T:]
    after = (written == stop).cumsum(dim=1) > 0
    return torch.cat([tokens, written.masked_fill(after, stop)], dim=1)


# takes `inference_mode` for it: "The model writes in evaluation mode"
@torch.inference_mode()
def inference_mode_for_evaluation(model, tokens, count, stop, generator):
    done = torch.zeros(len(tokens), dtype=torch.bool)
    for _ in range(count):
        if done.all():
            break
        logits, _ = model(tokens[:, -model.block_size :])
        probabilities = logits[:, -1, :].softmax(dim=-1)
        drawn = torch.multinomial(probabilities, num_samples=1, generator=generator).squeeze(1)
        drawn = torch.where(done, stop, drawn)
        done = done | (drawn == stop)
        tokens = torch.cat((tokens, drawn.unsqueeze(1)), dim=1)
    return tokens


WRITTEN = {
    "08/config": [ShowsAllSettings, DropoutIfTheHeadsFit],
    "08/initialise": [
        root_of_twice_the_ends,
        new_matrices_module_by_module,
        vectors_are_one_first,
    ],
    "08/schedule": [first_of_the_last_is_full, rise_of_the_library],
    "08/top-k": [order_taken_for_rank, cut_in_the_callers_logits, logits_times_mask],
    "08/top-p": [moved_by_the_least, sorted_a_second_time, temperature_for_the_set_alone],
    "08/generate": [
        text_as_long_as_the_window,
        filled_after_writing,
        inference_mode_for_evaluation,
    ],
}

ASIDE = {
    "ShowsAllSettings",
    "new_matrices_module_by_module",
    "rise_of_the_library",
    "moved_by_the_least",
    "text_as_long_as_the_window",
}
