"""Wrong answers to chapter 08 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

# 08/config


@dataclass(frozen=True)
class DivisionAskedOnlyOfACleanSheet:
    """Asks about the division only if nothing else is wrong, so the two together are half told."""

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
                problems.append(f"{name} is {value}, but must be at least 1")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout is {self.dropout}, but must be at least 0 and below 1")
        if not problems and self.n_embd % self.n_head != 0:
            problems.append(f"n_head {self.n_head} does not divide n_embd {self.n_embd}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


@dataclass(frozen=True)
class HeadsNamedWithoutTheirValue:
    """Where the division fails, gives the value of n_embd and only the name of n_head."""

    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        wrong = [
            f"{name} = {getattr(self, name)} is below 1"
            for name in ["vocab_size", "block_size", "n_layer", "n_head", "n_embd"]
            if getattr(self, name) < 1
        ]
        if self.n_head >= 1 and self.n_embd >= 1 and self.n_embd % self.n_head:
            wrong.append(f"n_embd = {self.n_embd} is not a multiple of n_head")
        if self.dropout < 0 or self.dropout >= 1:
            wrong.append(f"dropout = {self.dropout} is not in [0, 1)")
        if wrong:
            raise ValueError("\n".join(wrong))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


def two_branches_for_each_end(model, ends, std):
    """Takes each end for a block with two branches, and divides by the root of 2 · len(ends)."""
    for name, parameter in model.named_parameters():
        if name in ends:
            nn.init.normal_(parameter, mean=0.0, std=std / math.sqrt(2 * len(ends)))
        elif parameter.ndim >= 2:
            nn.init.normal_(parameter, mean=0.0, std=std)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
        else:
            nn.init.ones_(parameter)


def deviation_shrinks_at_every_end(model, ends, std):
    """Divides std itself at each end, so all that comes later is smaller too, and ever more so."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.ndim > 1:
                if name in ends:
                    std /= len(ends) ** 0.5
                p.normal_(0, std)
            elif name.split(".")[-1] == "bias":
                p.zero_()
            else:
                p.fill_(1)


# 08/schedule


def falls_to_zero_and_stops_at_final(step, steps, warm_up, decay, final):
    """Falls towards 0 and holds at final when it gets there, so the falls are too large."""
    if step < warm_up:
        return (step + 1) / warm_up
    left = steps - 1 - step
    if left < decay:
        return max(final, left / decay)
    return 1.0


def falls_by_equal_factors(step, steps, warm_up, decay, final):
    """Multiplies by the same factor at each step of the fall, for subtracting the same amount."""
    if step < warm_up:
        return (step + 1) / warm_up
    begin = steps - decay
    if step >= begin:
        done = (step - begin + 1) / decay
        return float(final**done)
    return 1.0


# 08/top-k


def larger_than_the_next_one(logits, k):
    """Keeps what is larger than the (k + 1)-th, so a tie over the border is cut as a whole."""
    ranked = logits.sort(dim=-1, descending=True).values
    none = torch.full_like(ranked[:, :1], -math.inf)
    ranked = torch.cat([ranked, none], dim=-1)
    place = k.clamp(max=logits.shape[-1])
    first_cut = ranked.gather(1, place[:, None])
    return F.softmax(logits.masked_fill(logits <= first_cut, -math.inf), dim=-1)


def counts_distinct_logits(logits, k):
    """Counts equal logits as one, so that ties before the k-th let too many symbols in."""
    rows = []
    for row, count in zip(logits, k.tolist(), strict=True):
        values = sorted(set(row.tolist()), reverse=True)
        least = values[min(count, len(values)) - 1]
        rows.append(torch.where(row >= least, row, torch.full_like(row, -math.inf)))
    return torch.stack(rows).softmax(dim=-1)


# 08/top-p


def softmax_of_what_is_kept(logits, temperature, p, least):
    """Makes rows sum to 1 with a second softmax, over probabilities, and loses the ratios."""
    probabilities = F.softmax(logits / temperature, dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    keep = before < p
    keep[:, :least] = True
    ranked = ranked.masked_fill(~keep | (ranked == 0), -math.inf).softmax(dim=-1)
    return torch.zeros_like(ranked).scatter(1, order, ranked)


def one_count_for_the_batch(logits, temperature, p, least):
    """Counts how many symbols the widest row needs, and keeps as many in every row."""
    probs = torch.softmax(logits / temperature, -1)
    ranked, order = torch.sort(probs, dim=-1, descending=True)
    needed = (ranked.cumsum(-1) - ranked < p).sum(-1)
    n = max(int(needed.max()), least)
    ranked[:, n:] = 0
    ranked = ranked / ranked.sum(-1, keepdim=True)
    result = torch.zeros_like(probs)
    result.scatter_(-1, order, ranked)
    return result


# 08/generate


@torch.no_grad()
def leaves_before_the_last_stop(model, tokens, count, stop, generator):
    """Leaves the loop before the last column is appended, so the last row lacks its stop."""
    training = model.training
    model.eval()
    done = torch.zeros(len(tokens), dtype=torch.bool)
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        weights = F.softmax(logits[:, -1], dim=-1)
        new = torch.multinomial(weights, 1, generator=generator)[:, 0]
        new = new.masked_fill(done, stop)
        done = done | (new == stop)
        if done.all():
            break
        tokens = torch.cat([tokens, new[:, None]], dim=1)
    model.train(training)
    return tokens


def softmax_over_the_texts(model, tokens, count, stop, generator):
    """Takes the softmax over the batch, and multinomial makes distributions of whatever it gets."""
    was_training = model.training
    model.eval()
    text = tokens.clone()
    finished = torch.zeros(text.shape[0], 1, dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if finished.all():
                break
            last = model(text[:, -model.block_size :])[0][:, -1, :]
            nxt = torch.multinomial(last.softmax(dim=0), 1, generator=generator)
            nxt[finished] = stop
            finished |= nxt == stop
            text = torch.cat((text, nxt), dim=1)
    model.train(was_training)
    return text


WRITTEN = {
    "08/config": [DivisionAskedOnlyOfACleanSheet, HeadsNamedWithoutTheirValue],
    "08/initialise": [two_branches_for_each_end, deviation_shrinks_at_every_end],
    "08/schedule": [falls_to_zero_and_stops_at_final, falls_by_equal_factors],
    "08/top-k": [larger_than_the_next_one, counts_distinct_logits],
    "08/top-p": [softmax_of_what_is_kept, one_count_for_the_batch],
    "08/generate": [leaves_before_the_last_stop, softmax_over_the_texts],
}
