"""Students' answers to 08/train."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from course_lib import optimizers, schedules
from course_lib.model import GPT, Config, ManyHeads, fuse


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


RIGHT = {
    "plain GPT": train_plain_gpt,
    "Muon": train_with_muon,
    "no attention": train_without_attention,
}


WRONG = {
    "all-positions-returned": train_badly(1, lambda z: z.softmax(-1)),
    "logarithms-for-probabilities": train_badly(read=lambda z: z[:, -1].log_softmax(-1)),
    "softmax-over-contexts": train_badly(read=lambda z: z[:, -1].softmax(0)),
    "logits-for-probabilities": train_badly(read=lambda z: z[:, -1]),
    "only-the-likeliest": train_badly(read=lambda z: torch.eye(z.shape[-1])[z[:, -1].argmax(-1)]),
    "dropout-in-evaluation": forgets_eval,
    "unshifted-targets": copies_input,
    "same-for-every-context": only_frequencies,
    "untrained": never_steps,
    "reads-first-logits": train_badly(read=lambda z: z[:, 0].softmax(-1)),
    "last-token-only": a_table_of_pairs,
}


ODD = [
    (train_badly(400, lambda z: (20 * z[:, -1]).softmax(-1)), "worse-than-nothing"),
    (train_badly(400, lambda z: z.mean(dim=1).softmax(-1)), "hardly-learned"),
    (too_slow, "target-missed"),
    (stops_early, "budget-left"),
    (sums_to_two, "no-distribution"),
]


TRICKS = {
    "counted pairs": (counts_pairs, 2),
    "what follows elsewhere": (looks_it_up, 2),
    "long stretches elsewhere": (lambda *given: looks_it_up(*given, least=7), 2),
}


SEEDS = range(1)


# --- Answers that no list names ---


def trained_backwards(batches, vocab_size, block_size):
    """Counts pairs, but takes P(current | next) for P(next | current)."""
    counts = torch.ones(vocab_size, vocab_size)
    for x, y in batches:
        pairs = torch.bincount((x * vocab_size + y).flatten(), minlength=vocab_size**2)
        counts += pairs.view(vocab_size, vocab_size)
    table = counts / counts.sum(dim=0, keepdim=True)
    return lambda contexts: table.T[contexts[:, -1]]


UNLISTED = {
    2: [(trained_backwards, "last-token-only")],
}
