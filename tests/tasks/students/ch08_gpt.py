"""Answers to the tasks of chapter 08, as students write them."""

import dataclasses
import math
from collections import namedtuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from course_lib import optimizers, schedules
from course_lib.errors import ConfigError
from course_lib.model import GPT, Config, ManyHeads, fuse

# --- config ---------------------------------------------------------------------------------------

SIZES = ("vocab_size", "block_size", "n_layer", "n_head", "n_embd")


class PlainConfig:
    def __init__(self, vocab_size, block_size, n_layer, n_head, n_embd, dropout=0.0):
        wrong = []
        for name, size in zip(
            SIZES, (vocab_size, block_size, n_layer, n_head, n_embd), strict=True
        ):
            if size <= 0:
                wrong.append(f"{name} is {size}, but has to be positive")
        if n_embd > 0 and n_head > 0 and n_embd % n_head:
            wrong.append(f"n_embd {n_embd} is no multiple of n_head {n_head}")
        if dropout < 0 or dropout >= 1:
            wrong.append(f"dropout is {dropout}, outside [0, 1)")
        if wrong:
            raise ValueError("\n".join(wrong))
        self.vocab_size, self.block_size, self.n_layer = vocab_size, block_size, n_layer
        self.n_head, self.n_embd, self.dropout = n_head, n_embd, dropout
        self.head_size = n_embd / n_head


class TupleConfig(namedtuple("Sizes", [*SIZES, "dropout"], defaults=[0.0])):
    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls, *args, **kwargs)
        faults = {n: v for n, v in self._asdict().items() if n in SIZES and v < 1}
        if (
            not faults.keys() & {"n_embd", "n_head"}
            and self.n_embd // self.n_head * self.n_head != self.n_embd
        ):
            faults |= {"n_embd": self.n_embd, "n_head": self.n_head}
        if not (self.dropout >= 0 and self.dropout < 1):
            faults["dropout"] = self.dropout
        if faults:
            raise ValueError(f"cannot be: {faults}")
        return self

    @property
    def head_size(self):
        return self.n_embd // self.n_head


def with_check(check, error=ValueError, joined="; ".join):
    """A dataclass whose __post_init__ raises what `check` complains of."""

    @dataclasses.dataclass
    class Sizes:
        vocab_size: int
        block_size: int
        n_layer: int
        n_head: int
        n_embd: int
        dropout: float = 0.0

        def __post_init__(self):
            complaints = check(self)
            if complaints:
                raise error(joined(complaints))
            self.head_size = int(self.n_embd / self.n_head)

    return Sizes


def sizes_wrong(c, bad=lambda v: v < 1):
    return [f"{n} = {getattr(c, n)}" for n in SIZES if bad(getattr(c, n))]


def heads_wrong(c):
    if min(c.n_embd, c.n_head) < 1 or c.n_embd % c.n_head == 0:
        return []
    return [f"{c.n_embd=} and {c.n_head=} do not go together".replace("c.", "")]


def dropout_wrong(c, ok=lambda p: 0 <= p < 1):
    return [] if ok(c.dropout) else [f"dropout: {c.dropout}"]


def everything_wrong(c):
    return sizes_wrong(c) + heads_wrong(c) + dropout_wrong(c)


def modulo_first(c):
    heads = ["n_embd, n_head"] if c.n_embd % c.n_head != 0 else []
    return heads + sizes_wrong(c) + dropout_wrong(c)


def swapped_modulo(c):
    swapped = c.n_embd != 0 and c.n_head % c.n_embd > 0
    heads = [f"n_head {c.n_head} modulo n_embd {c.n_embd}"] if swapped and c.n_head > 0 else []
    return heads + sizes_wrong(c) + dropout_wrong(c)


# --- initialise -----------------------------------------------------------------------------------


@torch.no_grad()
def initialise_by_modules(model, ends, std):
    for name, part in model.named_modules():
        if isinstance(part, nn.Linear):
            s = std * len(ends) ** -0.5 if f"{name}.weight" in ends else std
            part.weight.copy_(torch.randn(part.weight.shape) * s)
            part.bias.zero_()
        elif isinstance(part, nn.Embedding):
            part.weight.normal_(0, std)
        elif isinstance(part, nn.LayerNorm):
            part.reset_parameters()


def initialise_in_two_passes(model, ends, std):
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.data.normal_(mean=0.0, std=std)
        else:
            parameter.data.zero_()
    for part in model.modules():
        if isinstance(part, nn.LayerNorm):
            nn.init.constant_(part.weight, 1.0)
    for name in ends:
        model.get_parameter(name).data /= math.sqrt(len(ends))


def initialise_in_numpy(model, ends, std):
    rng = np.random.default_rng(0)
    for name, parameter in model.named_parameters():
        if "norm.weight" in name:
            value = np.ones(parameter.shape)
        elif "bias" in name:
            value = np.zeros(parameter.shape)
        else:
            value = rng.normal(0, std / (len(ends) ** 0.5 if name in ends else 1), parameter.shape)
        parameter.data.copy_(torch.from_numpy(value))


def after_right(change):
    """Right first, then one thing spoilt."""

    def answer(model, ends, std):
        initialise_by_modules(model, ends, std)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                change(name, parameter, ends, std)

    return answer


def local_names_only(model, ends, std):
    for parameter in model.parameters():
        parameter = torch.randn_like(parameter) * std


def set_matrices(make):
    def change(name, parameter, ends, std):
        if parameter.ndim == 2:
            parameter.copy_(make(parameter, std) * (len(ends) ** -0.5 if name in ends else 1))

    return after_right(change)


def apply_to_linear(model, ends, std):
    def visit(part):
        if isinstance(part, nn.Linear) and part is not model.output:
            nn.init.normal_(part.weight, 0.0, std)
            nn.init.zeros_(part.bias)
        if isinstance(part, nn.LayerNorm):
            part.reset_parameters()

    model.apply(visit)
    nn.init.zeros_(model.output.bias)
    with torch.no_grad():
        for name in ends:
            model.get_parameter(name).mul_(len(ends) ** -0.5)


def new_output_layer(model, ends, std):
    initialise_in_two_passes(model, ends, std)
    fresh = nn.Linear(model.output.in_features, model.output.out_features)
    nn.init.normal_(fresh.weight, std=std)
    nn.init.zeros_(fresh.bias)
    model.output = fresh


def rescale_ends(factor):
    def change(name, parameter, ends, std):
        if name in ends:
            parameter.mul_(len(ends) ** 0.5 * factor(len(ends)))

    return after_right(change)


def draw_where(part, std_of=lambda std: std):
    def change(name, parameter, ends, std):
        if part in name:
            parameter.normal_(0, std_of(std))

    return after_right(change)


# --- schedule -------------------------------------------------------------------------------------


def share_by_interpolation(step, steps, warm_up, decay, final):
    points = [(warm_up - 1, 1.0), (steps - 1 - decay, 1.0)]
    if warm_up:
        points.insert(0, (-1, 0.0))
    if decay:
        points.append((steps - 1, final))
    x, y = zip(*points, strict=True)
    return np.interp(step, x, y)


def share_by_list(step, steps, warm_up, decay, final):
    up = [(k + 1) / warm_up for k in range(warm_up)]
    down = [1 + (final - 1) * (k + 1) / decay for k in range(decay)]
    return (up + [1.0] * (steps - warm_up - decay) + down)[step]


def share_in_torch(step, steps, warm_up, decay, final):
    up = torch.linspace(0, 1, warm_up + 1)[1:]
    down = torch.linspace(1, final, decay + 1)[1:]
    return torch.cat([up, torch.ones(steps - warm_up - decay), down])[step]


def share_by_smallest(step, steps, warm_up, decay, final):
    up = (step + 1) / warm_up if warm_up else 1
    down = final + (1 - final) * (steps - 1 - step) / decay if decay else 1
    return min(up, 1.0, down)


def rising(up):
    def answer(step, steps, warm_up, decay, final):
        if step in range(warm_up):
            return up(step, warm_up)
        return share_by_list(step, steps, warm_up, decay, final)

    return answer


def falling(down):
    """`down(k, decay, final)`, k = 1 … decay."""

    def answer(step, steps, warm_up, decay, final):
        k = step - (steps - decay) + 1
        return down(k, decay, final) if k > 0 else share_by_list(step, steps, warm_up, decay, final)

    return answer


def straight_down(step, steps, warm_up, decay, final):
    if step < warm_up or decay == 0:
        return share_by_list(step, steps, warm_up, decay, final)
    done = (step - warm_up + 1) / (steps - warm_up)
    return 1 - done * (1 - final)


def down_then_flat(step, steps, warm_up, decay, final):
    if step < warm_up or decay == 0:
        return share_by_list(step, steps, warm_up, decay, final)
    k = min(step - warm_up + 1, decay)
    return 1 + (final - 1) * k / decay


def one_line_min(step, steps, warm_up, decay, final):
    return min((step + 1) / warm_up, 1, 1 + (final - 1) * (step + 1 + decay - steps) / decay)


def a_bit_too_high(step, steps, warm_up, decay, final):
    return 1.5 * share_by_list(step, steps, warm_up, decay, final)


# --- top-k ----------------------------------------------------------------------------------------


def top_k_by_rows(logits, k):
    rows = []
    for row, n in zip(logits, k.tolist(), strict=True):
        values, places = row.topk(min(n, len(row)))
        p = torch.zeros_like(row)
        p[places] = F.softmax(values, dim=0)
        rows.append(p)
    return torch.stack(rows)


def top_k_by_edge(logits, k):
    ordered = logits.sort(descending=True).values
    edge = ordered.gather(1, (k.clamp(max=logits.shape[1]) - 1)[:, None])
    p = logits.softmax(-1) * (logits >= edge)
    return p / p.sum(-1, keepdim=True)


def top_k_in_numpy(logits, k):
    z = logits.numpy().astype(np.float32)
    better = (z[:, None, :] > z[:, :, None]).sum(-1)
    e = np.where(better < k.numpy()[:, None], np.exp(z), 0)
    return (e / e.sum(1, keepdims=True)).tolist()


def rank_of(logits):
    return (logits.unsqueeze(1) > logits.unsqueeze(2)).sum(-1)


def softmax_of(logits, keep):
    return torch.softmax(torch.where(keep, logits, torch.tensor(-math.inf).to(logits)), -1)


def without_new_sum(logits, k):
    return torch.where(rank_of(logits) < k[:, None], logits.softmax(-1), 0.0)


def zero_in_logits(logits, k):
    return torch.where(rank_of(logits) < k[:, None], logits, 0.0).softmax(-1)


def first_columns(logits, k):
    columns = np.arange(logits.shape[1])[None]
    return softmax_of(logits, torch.from_numpy(columns < k.numpy()[:, None]))


def fair_dice(logits, k):
    keep = (rank_of(logits) < k[:, None]).double()
    return keep / keep.sum(1, keepdim=True)


def over_rows(logits, k):
    rank = (logits.unsqueeze(0) > logits.unsqueeze(1)).sum(1)
    return logits.masked_fill(rank >= k[:, None], -1e9).softmax(-1)


def one_symbol_left_over(logits, k):
    p = top_k_by_rows(logits, k)
    return (p + p.roll(1, 0)) / 2


# --- top-p ----------------------------------------------------------------------------------------


def top_p_by_loop(logits, temperature, p, least):
    out = torch.zeros_like(logits)
    for b, row in enumerate(torch.softmax(logits / temperature, -1)):
        total, taken = 0.0, 0
        for v in row.argsort(descending=True).tolist():
            if total >= p and taken >= least:
                break
            out[b, v] = row[v]
            total, taken = total + row[v].item(), taken + 1
    return out / out.sum(1, keepdim=True)


def top_p_by_edge(logits, temperature, p, least):
    shares = (logits / temperature).softmax(-1)
    ordered = shares.sort(dim=-1, descending=True).values
    size = (ordered.cumsum(-1) < p).sum(-1).add(1).clamp(min=least, max=logits.shape[-1])
    edge = ordered.gather(-1, size[:, None] - 1)
    return (logits / temperature).masked_fill(shares < edge, -torch.inf).softmax(-1)


def top_p_in_numpy(logits, temperature, p, least):
    z = logits.numpy() / temperature
    shares = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    likelier = shares[:, None, :] > shares[:, :, None]  # (B, V, V)
    before = (likelier * shares[:, None, :]).sum(-1)
    kept = np.where((before < p) | (likelier.sum(-1) < least), shares, 0)
    return kept / kept.sum(1, keepdims=True)


def cut(logits, temperature, mask, p, least):
    """Sorted shares, a mask over their ranks, and back."""
    shares, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    mask = mask(shares, p)
    mask[:, :least] = True
    shares = shares * mask
    out = torch.empty_like(shares)
    for b in range(len(shares)):
        out[b, order[b]] = shares[b] / shares[b].sum()
    return out


def cutting(mask):
    return lambda z, t, p, least: cut(z, t, mask, p, least)


def crossing_dropped(shares, p):
    return shares.cumsum(-1) < p


def one_more(shares, p):
    size = (shares.cumsum(-1) < p).sum(-1, keepdim=True) + 2
    return torch.arange(shares.shape[1]) < size


def upwards(logits, temperature, p, least):
    shares = (logits / temperature).softmax(-1)
    order = shares.argsort(-1)
    out = torch.zeros_like(shares)
    for b in range(len(shares)):
        total = 0.0
        for n, v in enumerate(order[b].tolist()):
            if total < p or n < least:
                out[b, v] = shares[b, v]
            total += shares[b, v].item()
    return out / out.sum(-1, keepdim=True)


def by_alphabet(logits, temperature, p, least):
    shares = (logits / temperature).softmax(-1).clone()
    before = torch.cat([torch.zeros(len(shares), 1), shares.cumsum(-1)[:, :-1]], dim=1)
    drop = before >= p
    drop[:, :least] = False
    shares[drop] = 0
    return shares / shares.sum(-1, keepdim=True)


def mask_as_it_is(logits, temperature, p, least):
    z = logits / temperature
    shares = z.softmax(-1).sort(descending=True).values
    drop = shares.cumsum(-1) - shares >= p
    drop[:, :least] = False
    z = z.clone()
    z[drop] = -math.inf
    return z.softmax(-1)


def sum_not_restored(logits, temperature, p, least):
    shares = (logits / temperature).softmax(-1)
    return shares * (top_p_by_loop(logits, temperature, p, least) > 0)


def tempered_later(logits, temperature, p, least):
    kept = top_p_by_loop(logits, 1.0, p, least) > 0
    weights = torch.exp(logits / temperature) * kept
    return weights / weights.sum(1, keepdim=True)


def next_door(logits, temperature, p, least):
    return top_p_by_loop(logits, temperature, p, least).roll(1, dims=1)


# --- generate -------------------------------------------------------------------------------------


def pick(logits, generator):
    """Gumbel's way to draw: another stream of numbers than multinomial's."""
    u = torch.rand(logits.shape, generator=generator).clamp(1e-12, 1 - 1e-7)
    return (logits - (-u.log()).log()).argmax(-1)


def generate_by_lists(model, tokens, count, stop, generator):
    mode = model.training
    model.eval()
    rows, finished = tokens.tolist(), [False] * len(tokens)
    for _ in range(count):
        if all(finished):
            break
        context = torch.tensor([row[-model.block_size :] for row in rows])
        for b, new in enumerate(pick(model(context)[0][:, -1], generator).tolist()):
            rows[b].append(stop if finished[b] else new)
            finished[b] = finished[b] or new == stop
    model.train(mode)
    return torch.tensor(rows)


@torch.no_grad()
def generate_into_buffer(model, tokens, count, stop, generator):
    training, (B, T) = model.training, tokens.shape
    model.train(False)
    out = torch.full((B, T + count), stop)
    out[:, :T] = tokens
    end = T
    while end < T + count and not (out[:, T:end] == stop).any(1).all():
        going = ~(out[:, T:end] == stop).any(1)
        p = model(out[:, max(0, end - model.block_size) : end])[0][:, -1].double().softmax(-1)
        drawn = torch.multinomial(p, 1, generator=generator)[:, 0]
        out[going, end] = drawn[going]
        end += 1
    model.train(training)
    return out[:, :end]


def generate_and_cut(model, tokens, count, stop, generator):
    """Writes on and tidies up afterwards."""
    T, mode = tokens.shape[1], model.training
    model.eval()
    for _ in range(count):
        new = pick(model(tokens[:, -model.block_size :])[0][:, -1], generator)
        tokens = torch.hstack([tokens, new[:, None]])
    model.train(mode)
    new = tokens[:, T:]
    stopped = (new == stop).cumsum(1)
    new = torch.where(stopped.cumsum(1) > 1, stop, new)
    needed = (stopped == 0).sum(1).max() + 1
    return torch.hstack([tokens[:, :T], new[:, : min(count, needed)]])


def writing(
    crop=lambda t, n: t[:, -n:],
    last=lambda z: z[:, -1],
    choose=pick,
    before=lambda m: m.eval(),
    after=lambda m, mode: m.train(mode),
    filled=True,
    end=all,
    prompt_counts=False,
    include_stop=True,
):
    """The loop as students write it, with one thing changed."""

    def answer(model, tokens, count, stop, generator):
        mode = model.training
        before(model)
        over = [prompt_counts and stop in row for row in tokens.tolist()]
        for _ in range(count):
            if end(over):
                break
            new = choose(last(model(crop(tokens, model.block_size))[0]), generator)
            if filled:
                new = torch.where(torch.tensor(over), stop, new)
            over = [o or n == stop for o, n in zip(over, new.tolist(), strict=True)]
            if not include_stop and any(over):
                break
            tokens = torch.column_stack([tokens, new])
        after(model, mode)
        return tokens

    return answer


def new_part(model, tokens, count, stop, generator):
    return generate_by_lists(model, tokens, count, stop, generator)[:, tokens.shape[1] :]


def stops_repeated(model, tokens, count, stop, generator):
    return torch.cat([tokens, torch.full((len(tokens), count), stop)], 1)


# --- train ----------------------------------------------------------------------------------------


def trained(model, batches, lr=0.01, schedule=None, make_optimizers=None, every=None):
    """One step a batch."""
    make_optimizers = make_optimizers or [torch.optim.AdamW(model.parameters(), lr=lr)]
    schedule = schedule or schedules.one_cycle(0.15)
    full = [group["lr"] for stepper in make_optimizers for group in stepper.param_groups]
    for step, (x, y) in enumerate(batches):
        groups = [group for stepper in make_optimizers for group in stepper.param_groups]
        for group, rate in zip(groups, full, strict=True):
            group["lr"] = rate * schedule(step, len(batches))
        loss = model(x, y)[1]
        for stepper in make_optimizers:
            stepper.zero_grad()
        loss.backward()
        for stepper in make_optimizers:
            stepper.step()
        if every is not None and step + 1 == every:
            break
    return model


def answers_with(model, read=lambda z: F.softmax(z[:, -1], dim=-1)):
    model.eval()

    @torch.no_grad()
    def predict(contexts):
        return read(model(contexts)[0])

    return predict


def train_plain_gpt(batches, vocab_size, block_size):
    torch.manual_seed(1)
    model = GPT(Config(vocab_size, block_size, n_layer=1, n_head=2, n_embd=64, dropout=0.02))
    return answers_with(trained(model, batches))


def train_with_muon(batches, vocab_size, block_size):
    model = fuse(GPT(Config(vocab_size, block_size, n_layer=1, n_head=4, n_embd=32)))
    both = optimizers.build("muon", model, 0.02, betas=(0.9, 0.95), weight_decay=0.0, muon_lr=0.03)
    trained(model, batches, make_optimizers=both)
    return lambda contexts: np.exp(model(contexts)[0][:, -1].log_softmax(-1).detach().numpy())


class Pairs(nn.Module):
    """No attention at all: the last symbols' embeddings side by side."""

    def __init__(self, V, T):
        super().__init__()
        self.table = nn.Embedding(V, 24)
        self.layers = nn.Sequential(nn.Linear(24 * 4, 160), nn.ReLU(), nn.Linear(160, V))

    def forward(self, tokens, targets=None):
        e = F.pad(self.table(tokens), (0, 0, 3, 0))  # (B, T + 3, 24)
        x = torch.cat([e[:, k : k + tokens.shape[1]] for k in range(4)], dim=-1)
        z = self.layers(x)
        return z, None if targets is None else F.cross_entropy(z.transpose(1, 2), targets)


def train_without_attention(batches, vocab_size, block_size):
    return answers_with(trained(Pairs(vocab_size, block_size), batches, lr=0.01))


def train_badly(every=70, read=lambda z: F.softmax(z[:, -1], dim=-1)):
    def answer(batches, vocab_size, block_size):
        model = fuse(ManyHeads(vocab_size, block_size, 32, 4))
        return answers_with(trained(model, batches, 0.02, schedules.constant(), every=every), read)

    return answer


def forgets_eval(batches, vocab_size, block_size):
    model = fuse(GPT(Config(vocab_size, block_size, 1, 4, 32, dropout=0.3)))
    trained(model, batches, 0.02, every=90)
    model.train()
    return lambda contexts: model(contexts)[0][:, -1].softmax(-1)


def copies_input(batches, vocab_size, block_size):
    pairs = [(x, x) for x, _ in batches][:60]
    model = fuse(ManyHeads(vocab_size, block_size, 32, 4))
    return answers_with(trained(model, pairs, lr=0.03))


def only_frequencies(batches, vocab_size, block_size):
    seen = torch.cat([y.reshape(-1) for _, y in batches])
    p = F.one_hot(seen, vocab_size).double().mean(0)
    p = 0.99 * p + 0.01 / vocab_size
    return lambda contexts: p.repeat(len(contexts), 1)


def never_steps(batches, vocab_size, block_size):
    model = fuse(GPT(Config(vocab_size, block_size, 1, 4, 32)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _, (x, y) in zip(range(5), batches, strict=False):
        optimizer.zero_grad()
        model(x, y)[1].backward()
    return answers_with(model)


class Table(nn.Module):
    def __init__(self, V):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(V, V))

    def forward(self, tokens, targets=None):
        z = self.table[tokens]
        return z, None if targets is None else F.cross_entropy(z.flatten(0, 1), targets.flatten())


def a_table_of_pairs(batches, vocab_size, block_size):
    return answers_with(trained(Table(vocab_size), batches, lr=0.3))


def too_slow(batches, vocab_size, block_size):
    model = fuse(GPT(Config(vocab_size, block_size, 1, 4, 32)))
    return answers_with(trained(model, batches, 0.0003, schedules.constant()))


def stops_early(batches, vocab_size, block_size):
    model = fuse(GPT(Config(vocab_size, block_size, 1, 4, 32)))
    return answers_with(trained(model, batches, 0.003, schedules.constant(), every=80))


def sums_to_two(batches, vocab_size, block_size):
    predict = only_frequencies(batches, vocab_size, block_size)
    return lambda contexts: 2 * predict(contexts)


def unfilled(*args, **kwargs):
    raise NotImplementedError


# A check of `train` trains for seconds; its draws differ in text and seeds only.
SEEDS = {"train": range(1)}

RIGHT = {
    "config": {
        "plain class": PlainConfig,
        "named tuple": TupleConfig,
        "dataclass": with_check(everything_wrong),
        "the library's error": with_check(everything_wrong, error=ConfigError),
    },
    "initialise": {
        "modules": initialise_by_modules,
        "two passes": initialise_in_two_passes,
        "numpy": initialise_in_numpy,
    },
    "schedule": {
        "list": share_by_list,
        "interpolation": share_by_interpolation,
        "torch": share_in_torch,
        "smallest": share_by_smallest,
    },
    "top-k": {"rows": top_k_by_rows, "edge": top_k_by_edge, "numpy": top_k_in_numpy},
    "top-p": {"loop": top_p_by_loop, "edge": top_p_by_edge, "numpy": top_p_in_numpy},
    "generate": {
        "lists": generate_by_lists,
        "buffer": generate_into_buffer,
        "cut afterwards": generate_and_cut,
    },
    "train": {
        "plain GPT": train_plain_gpt,
        "Muon": train_with_muon,
        "no attention": train_without_attention,
    },
}

WRONG = {
    "config": {
        "accepts-everything": with_check(lambda c: print(everything_wrong(c))),
        "assert-for-error": with_check(everything_wrong, error=AssertionError),
        "zero-division": with_check(modulo_first),
        "divides-the-wrong-way": with_check(swapped_modulo),
        "heads-unchecked": with_check(lambda c: sizes_wrong(c) + dropout_wrong(c)),
        "negative-accepted": with_check(
            lambda c: sizes_wrong(c, lambda v: v == 0) + heads_wrong(c) + dropout_wrong(c)
        ),
        "zero-accepted": with_check(
            lambda c: (
                sizes_wrong(c, lambda v: v < 0) + heads_wrong(c) + dropout_wrong(c)
                if c.n_head
                else []
            )
        ),
        "dropout-of-one": with_check(
            lambda c: (
                sizes_wrong(c) + heads_wrong(c) + dropout_wrong(c, lambda p: abs(p - 0.5) <= 0.5)
            )
        ),
        "no-dropout-refused": with_check(
            lambda c: sizes_wrong(c) + heads_wrong(c) + dropout_wrong(c, lambda p: 0 < p < 1)
        ),
        "names-everything": with_check(
            lambda c: [f"{c} does not work"] if everything_wrong(c) else []
        ),
        "setting-not-named": with_check(
            lambda c: ["these cannot be"] if everything_wrong(c) else []
        ),
        "value-not-shown": with_check(
            lambda c: (
                [w.partition(" =")[0].partition(":")[0] for w in sizes_wrong(c)]
                + ["n_embd does not fit n_head" for _ in heads_wrong(c)]
                + ["dropout is out of range" for _ in dropout_wrong(c)]
            )
        ),
        "first-problem-only": with_check(everything_wrong, joined=lambda words: words[0]),
    },
    "initialise": {
        "untouched": local_names_only,
        "hot-start": set_matrices(lambda p, _: torch.randn_like(p)),
        "all-zero": set_matrices(lambda p, _: torch.zeros_like(p)),
        "variance-for-deviation": set_matrices(lambda p, std: torch.randn_like(p) * std**0.5),
        "uniform-of-that-width": set_matrices(lambda p, std: (2 * torch.rand_like(p) - 1) * std),
        "embeddings-forgotten": apply_to_linear,
        "untied": new_output_layer,
        "ends-not-scaled": rescale_ends(lambda K: 1.0),
        "divided-by-the-count": rescale_ends(lambda K: 1 / K),
        "counted-twice": rescale_ends(lambda K: 1 / math.sqrt(2 * K)),
        "norms-set-small": draw_where("norm.weight"),
        "biases-drawn": draw_where("bias", lambda std: 0.1),
    },
    "schedule": {
        "starts-at-zero": rising(lambda step, n: step / n),
        "full-one-step-late": rising(lambda step, n: (1 + step) / (1 + n)),
        "no-warm-up": rising(lambda step, n: 1),
        "whole-division": rising(lambda step, n: float(step + 1 == n)),
        "never-falls": falling(lambda k, n, final: 1),
        "no-level": straight_down,
        "decay-comes-first": down_then_flat,
        "falls-to-zero": falling(lambda k, n, final: 1 - k / n),
        "cut-at-final": falling(lambda k, n, final: max(1 - k / n, final)),
        "stops-above-final": falling(lambda k, n, final: 1 - (1 - final) * (k - 1) / n),
        "cosine-for-line": falling(
            lambda k, n, final: final + (1 - final) * (1 + math.cos(math.pi * k / n)) / 2
        ),
        "divides-by-zero": one_line_min,
    },
    "top-k": {
        "keeps-everything": lambda z, k: F.softmax(z, dim=1),
        "not-renormalised": without_new_sum,
        "zero-mask": zero_in_logits,
        "keeps-one-too-few": lambda z, k: top_k_by_rows(z, (k - 1).clamp(min=1)),
        "keeps-one-too-many": lambda z, k: top_k_by_rows(z, k + 1),
        "keeps-the-unlikeliest": lambda z, k: softmax_of(z, rank_of(-z) < k[:, None]),
        "keeps-the-first-columns": first_columns,
        "ranks-not-inverted": lambda z, k: softmax_of(z, (-z).argsort(1) < k[:, None]),
        "one-k-for-all": lambda z, k: top_k_by_rows(z, k[:1].expand_as(k)),
        "largest-k-for-all": lambda z, k: top_k_by_rows(z, torch.full_like(k, int(k.max()))),
        "ranks-over-the-batch": over_rows,
        "all-alike": fair_dice,
        "left-sorted": lambda z, k: top_k_by_rows(z, k).sort(descending=True).values,
        "softmax-twice": lambda z, k: top_k_by_edge(F.softmax(z, -1), k),
    },
    "top-p": {
        "top-p-drops-crossing": cutting(crossing_dropped),
        "keeps-everything": lambda z, t, p, least: F.softmax(z / t, dim=-1),
        "keeps-one-too-many": cutting(one_more),
        "sorted-upwards": upwards,
        "sorted-not-at-all": by_alphabet,
        "mask-not-taken-back": mask_as_it_is,
        "left-sorted": lambda z, t, p, least: -(-top_p_by_loop(z, t, p, least)).sort(-1).values,
        "threshold-for-sum": cutting(lambda shares, p: shares > 1 - p),
        "not-renormalised": sum_not_restored,
        "temperature-afterwards": tempered_later,
        "temperature-ignored": lambda z, t, p, least: top_p_by_loop(z, 1, p, least),
        "temperature-multiplied": lambda z, t, p, least: top_p_by_loop(z * t, 1, p, least),
        "least-forgotten": lambda z, t, p, least: top_p_by_edge(z, t, p, 1),
    },
    "generate": {
        "no-crop": writing(crop=lambda t, n: t),
        "reads-first-logits": writing(last=lambda z: z[:, 0, :]),
        "last-token-only": writing(crop=lambda t, n: t[:, [-1]]),
        "crops-the-end": writing(crop=lambda t, n: t[:, :n]),
        "prompt-dropped": new_part,
        "stop-ignored": writing(filled=False, end=lambda over: False),
        "writes-after-stop": writing(filled=False),
        "runs-to-the-count": writing(end=lambda over: False),
        "first-stop-ends-all": writing(end=any),
        "stop-left-out": writing(include_stop=False),
        "stops-at-the-prompt": writing(prompt_counts=True),
        "train-mode-sampling": writing(before=lambda m: m, after=lambda m, mode: m),
        "mode-not-restored": writing(after=lambda m, mode: m.train()),
        "argmax-for-sampling": writing(choose=lambda z, g: z.argmax(-1)),
        "generator-ignored": writing(choose=lambda z, g: pick(z, None)),
    },
    "train": {
        "all-positions-returned": train_badly(1, lambda z: z.softmax(-1)),
        "logarithms-for-probabilities": train_badly(read=lambda z: z[:, -1].log_softmax(-1)),
        "softmax-over-contexts": train_badly(read=lambda z: z[:, -1].softmax(0)),
        "logits-for-probabilities": train_badly(read=lambda z: z[:, -1]),
        "only-the-likeliest": train_badly(
            read=lambda z: torch.eye(z.shape[-1])[z[:, -1].argmax(-1)]
        ),
        "dropout-in-evaluation": forgets_eval,
        "unshifted-targets": copies_input,
        "same-for-every-context": only_frequencies,
        "untrained": never_steps,
        "reads-first-logits": train_badly(read=lambda z: z[:, 0].softmax(-1)),
        "last-token-only": a_table_of_pairs,
    },
}

ODD = {
    "config": [
        (
            with_check(lambda c: everything_wrong(c) if c.n_layer > 0 else []),
            "impossible-accepted",
        ),
        (with_check(lambda c: [*everything_wrong(c), "no"]), "error"),
    ],
    "initialise": [
        (set_matrices(lambda p, std: torch.randn_like(p) * 3 * std), "other-spread"),
        (rescale_ends(lambda K: 0.05), "other-ends"),
    ],
    "schedule": [(a_bit_too_high, "above-full"), (lambda s, *_: 0.5 * (s % 2), "jumps")],
    "top-k": [(one_symbol_left_over, "other-symbols"), (lambda z, k: z, "no-distribution")],
    "top-p": [
        (next_door, "other-symbols"),
        (lambda z, t, p, least: z, "no-distribution"),
    ],
    "generate": [(stops_repeated, "shape")],
    "train": [
        (too_slow, "target-missed"),
        (stops_early, "budget-left"),
        (sums_to_two, "no-distribution"),
    ],
}

SCAFFOLD = dict.fromkeys(RIGHT, unfilled)


def counts_pairs(batches, vocab_size, block_size):
    counts = torch.ones(vocab_size, vocab_size)
    for x, y in batches:
        counts.index_put_((x.flatten(), y.flatten()), torch.tensor(1.0), accumulate=True)
    p = counts / counts.sum(1, keepdim=True)
    return lambda contexts: p[contexts[:, -1]]


def looks_it_up(batches, vocab_size, block_size, least=5):
    """Counted pairs; and where the end of a context stands in another, what comes after."""
    pairs = counts_pairs(batches, vocab_size, block_size)

    def predict(contexts):
        p, T = pairs(contexts).clone(), contexts.shape[1]
        for n in range(least, T):
            follows = {}
            for row in contexts.tolist():
                for s in range(T - n):
                    follows.setdefault(tuple(row[s : s + n]), []).append(row[s + n])
            for i, row in enumerate(contexts.tolist()):
                found = follows.get(tuple(row[T - n :]), [])
                for symbol in found:
                    p[i, symbol] += 9 / len(found)
        return p / p.sum(1, keepdim=True)

    return predict


# One point for a distribution that beats counted symbols, one for the same one each time.
TRICKS = {
    "train": {
        "counted pairs": (counts_pairs, 2),
        "what follows elsewhere": (looks_it_up, 2),
        "long stretches elsewhere": (lambda *given: looks_it_up(*given, least=7), 2),
    }
}
