"""Wrong answers to chapter 08 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn

# 08/config


# Joined the three checks by `elif`, after a division by zero had stopped the first draft.
# "reports *everything* that is wrong in a single `ValueError`"
@dataclass(frozen=True)
class DropoutOnlyWhereSizesAreRight:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        sizes = ["vocab_size", "block_size", "n_layer", "n_head", "n_embd"]
        problems = [f"{s} = {getattr(self, s)} < 1" for s in sizes if getattr(self, s) < 1]
        if problems:
            pass
        elif self.n_embd % self.n_head:
            problems.append(f"n_head = {self.n_head} does not divide n_embd = {self.n_embd}")
        elif not 0 <= self.dropout < 1:
            problems.append(f"dropout = {self.dropout} is not in [0, 1)")
        if problems:
            raise ValueError("\n".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# Prints the whole object into the message, to be helpful.
# "and no setting that is right"
@dataclass(frozen=True)
class AllSettingsInTheMessage:
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
                problems.append(f"{name} is {value}")
        if self.n_head > 0 and self.n_embd > 0 and self.n_embd % self.n_head > 0:
            problems.append(f"n_embd {self.n_embd} is no multiple of n_head {self.n_head}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout is {self.dropout}")
        if problems:
            raise ValueError(f"{self}: " + ", ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


# Went through the modules as many repositories do; a norm "is 1 and 0 by default".
# "norms start with weights of 1", and "Biases are 0": not if the model was trained before
def norms_as_they_are(model, ends, std):
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=std)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, mean=0.0, std=std)
    for name, parameter in model.named_parameters():
        if name in ends:
            nn.init.normal_(parameter, mean=0.0, std=std / math.sqrt(len(ends)))


# 08/schedule


# Comes from NumPy and puts three stretches together with linspace.
# "the last `decay` steps fall by equal amounts": the first of them does not fall
def shares_from_linspace(step, steps, warm_up, decay, final):
    up = torch.linspace(0, 1, warm_up + 1)[1:]
    level = torch.ones(steps - warm_up - decay)
    down = torch.linspace(1, final, decay)
    return torch.cat([up, level, down])[step].item()


# Kept the chapter's half cosine and changed where it begins.
# "fall by equal amounts"
def cosine_at_the_end(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    if step < steps - decay:
        return 1.0
    done = (step - (steps - decay) + 1) / decay
    return final + (1 - final) * 0.5 * (1 + math.cos(math.pi * done))


# 08/top-k


# Took the two lines from nanoGPT's generate and put a loop around them.
# "your functions leave what they are given as it was"
def rows_cut_in_the_argument(logits, k):
    for b in range(len(logits)):
        row = logits[b]
        v, _ = torch.topk(row, min(int(k[b]), row.size(-1)))
        row[row < v[-1]] = -float("inf")
    return torch.softmax(logits, dim=-1)


# Found topk with its indices and did not read on.
# "A symbol that is exactly as likely as the k-th is kept as well"
def exactly_k_of_each_row(logits, k):
    out = torch.zeros_like(logits)
    for b in range(logits.shape[0]):
        n = min(k[b].item(), logits.shape[1])
        values, indices = logits[b].topk(n)
        out[b, indices] = values.softmax(dim=0)
    return out


# 08/top-p


# Wrote for one row and made it run for a batch.
# "At least the `least` likeliest symbols are kept": in each row, not in all rows together
def least_counted_over_the_batch(logits, temperature, p, least):
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    keep = ranked.cumsum(dim=-1) - ranked < p
    if keep.sum() < least:
        keep[:, :least] = True
    ranked = ranked * keep
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# Thinks of the temperature as the last thing that happens before drawing.
# "The temperature comes first: the set is chosen from softmax(logits / temperature)."
def temperature_after_the_choice(logits, temperature, p, least):
    ranked, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    kept = (ranked.cumsum(dim=-1) - ranked) < p
    kept[:, :least] = True
    mask = torch.zeros_like(kept).scatter(-1, order, kept)
    return (logits.masked_fill(~mask, -torch.inf) / temperature).softmax(dim=-1)


# 08/generate


# Cuts the text to what the model can read, and goes on with what is left.
# "returns: (B, T + n)": the beginning of a long text is lost
def text_cut_to_the_context(model, tokens, count, stop, generator):
    was_training = model.training
    model.eval()
    done = torch.zeros(tokens.shape[0], dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if done.all():
                break
            tokens = tokens[:, -model.block_size :]
            logits, _ = model(tokens)
            probs = logits[:, -1, :].softmax(dim=-1)
            new = torch.multinomial(probs, num_samples=1, generator=generator)[:, 0]
            new[done] = stop
            done = done | (new == stop)
            tokens = torch.cat([tokens, new[:, None]], dim=1)
    model.train(was_training)
    return tokens


# Asks after each step whether stop was drawn, before the rows that are done are filled.
# "Writing ends as soon as every row is done"
def ends_where_all_draw_stop_at_once(model, tokens, count, stop, generator):
    training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            logits, _ = model(tokens[:, -model.block_size :])
            drawn = torch.multinomial(logits[:, -1].softmax(-1), 1, generator=generator).flatten()
            stopped = drawn == stop
            drawn = torch.where(done, stop, drawn)
            done = done | stopped
            tokens = torch.cat([tokens, drawn[:, None]], dim=1)
            if stopped.all():
                break
    model.train(training)
    return tokens


WRITTEN = {
    "08/config": [DropoutOnlyWhereSizesAreRight, AllSettingsInTheMessage],
    "08/initialise": [norms_as_they_are],
    "08/schedule": [shares_from_linspace, cosine_at_the_end],
    "08/top-k": [rows_cut_in_the_argument, exactly_k_of_each_row],
    "08/top-p": [least_counted_over_the_batch, temperature_after_the_choice],
    "08/generate": [
        text_cut_to_the_context,
        ends_where_all_draw_stop_at_once,
    ],
}

ASIDE = {
    "DropoutOnlyWhereSizesAreRight",
    "AllSettingsInTheMessage",
    "norms_as_they_are",
    "rows_cut_in_the_argument",
    "exactly_k_of_each_row",
}
