"""Wrong answers to chapter 08 that no list names: the seventh set, what students hand in.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F

# 08/config


# Tired, writes the usual message for the division and no numbers in it.
# "The message names each setting that is wrong, by its name and with its value"
@dataclass(frozen=True)
class DivisionWithoutValues:
    vocab_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    dropout: float = 0.0

    def __post_init__(self):
        errors = []
        for name in ["vocab_size", "block_size", "n_layer", "n_head", "n_embd"]:
            value = getattr(self, name)
            if value < 1:
                errors.append(f"{name} must be at least 1, got {value}")
        if self.n_head > 0 and self.n_embd > 0 and self.n_embd % self.n_head:
            errors.append("n_embd must be divisible by n_head")
        if self.dropout < 0 or self.dropout >= 1:
            errors.append(f"dropout must be in [0, 1), got {self.dropout}")
        if errors:
            raise ValueError("\n".join(errors))

    @property
    def head_size(self):
        return self.n_embd // self.n_head


# 08/initialise


# Asks for the number of axes first, and never gets to the biases.
# "Biases are 0"
def all_vectors_one(model, ends, std):
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 1:
                p.fill_(1.0)
            elif name in ends:
                p.normal_(0.0, std / len(ends) ** 0.5)
            elif "bias" in name:
                p.zero_()
            else:
                p.normal_(0.0, std)


# 08/schedule


# Took the warm-up of a well-known training script.
# "the first step has `1 / warm_up`, the last one of them 1"
def warm_up_from_zero(step, steps, warm_up, decay, final):
    if step < warm_up:
        return step / warm_up
    if step >= steps - decay:
        left = steps - 1 - step
        return final + (1 - final) * left / decay
    return 1.0


# Lets the rate fall to 0 and holds it at the floor.
# "the last `decay` steps fall by equal amounts; the last step of all has `final`"
def floor_instead_of_slope(step, steps, warm_up, decay, final):
    if step < warm_up:
        return (step + 1) / warm_up
    if step >= steps - decay:
        return max(final, (steps - 1 - step) / decay)
    return 1.0


# 08/top-k


# Looks up torch.topk, which gives k values and no more.
# "A symbol that is exactly as likely as the k-th is kept as well"
def exactly_k(logits, k):
    B, V = logits.shape
    result = torch.zeros(B, V)
    for b in range(B):
        n = min(int(k[b]), V)
        values, indices = torch.topk(logits[b], n)
        result[b, indices] = F.softmax(values, dim=-1)
    return result


# Changed k until torch.topk accepted it: it wants one number.
# "row b keeps its own `k[b]` likeliest symbols"
def largest_k_for_all(logits, k):
    n = min(k.max().item(), logits.size(-1))
    v, _ = torch.topk(logits, n)
    out = logits.clone()
    out[out < v[:, [-1]]] = -float("inf")
    return F.softmax(out, dim=-1)


# 08/top-p


# Does the two steps that the title names, and then applies the temperature.
# "The temperature comes first: the set is chosen from softmax(logits / temperature)."
def temperature_after_the_choice(logits, temperature, p, least):
    ranked, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    drop = before >= p
    drop[:, :least] = False
    cut = torch.zeros_like(drop).scatter(-1, order, drop)
    return (logits.masked_fill(cut, -torch.inf) / temperature).softmax(dim=-1)


# Copied a filter whose shift by one place was lost on the way.
# "the symbol with which the sum crosses p belongs to it"
def crossing_symbol_cut(logits, temperature, p, least):
    logits = logits / temperature
    sorted_logits, sorted_indices = torch.sort(logits, descending=True)
    cumulative = F.softmax(sorted_logits, dim=-1).cumsum(dim=-1)
    remove = cumulative > p
    remove[..., :least] = False
    remove = remove.scatter(1, sorted_indices, remove)
    logits = logits.masked_fill(remove, -float("inf"))
    return F.softmax(logits, dim=-1)


# 08/generate


# Ends each function with model.train(), as in every training loop.
# "is afterwards in the mode that it was in"
def training_mode_afterwards(model, tokens, count, stop, generator):
    model.eval()
    finished = torch.zeros(tokens.shape[0], dtype=torch.bool)
    with torch.no_grad():
        for _ in range(count):
            if finished.all():
                break
            context = tokens[:, -model.block_size :]
            logits, _ = model(context)
            probs = F.softmax(logits[:, -1, :], dim=-1)
            new = torch.multinomial(probs, num_samples=1, generator=generator)[:, 0]
            new = torch.where(finished, torch.full_like(new, stop), new)
            finished = finished | (new == stop)
            tokens = torch.cat((tokens, new[:, None]), dim=1)
    model.train()
    return tokens


# Reads "up to a stop symbol in each row" and stops at the first stop.
# "A row that has written `stop` is done: … while the others continue."
def ends_with_the_first_row(model, tokens, count, stop, generator):
    mode = model.training
    model.eval()
    for _ in range(count):
        with torch.no_grad():
            logits, _ = model(tokens[:, -model.block_size :])
        probs = torch.softmax(logits[:, -1], dim=-1)
        new = torch.multinomial(probs, 1, generator=generator)
        tokens = torch.cat([tokens, new], dim=1)
        if (new == stop).any():
            break
    model.train(mode)
    return tokens


WRITTEN = {
    "08/config": [DivisionWithoutValues],
    "08/initialise": [all_vectors_one],
    "08/schedule": [warm_up_from_zero, floor_instead_of_slope],
    "08/top-k": [exactly_k, largest_k_for_all],
    "08/top-p": [temperature_after_the_choice, crossing_symbol_cut],
    "08/generate": [training_mode_afterwards, ends_with_the_first_row],
}
