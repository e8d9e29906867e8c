"""The same right and wrong answers through our checks and through those of `torch-judge`.

    python -m pip install torch-judge==0.1.1
    python -m benchmarks.peers --to benchmarks/results/peers.json    # a few minutes

`torch-judge` (PyPI, MIT) holds 40 problems of this kind. For those that both have, each answer is
written once, on plain tensors, and an adapter brings it into the form that either asks for. What
`torch-judge` says of an answer is what its tests print; which of its sentences say what is wrong,
rather than that something is, stands in `SAYS_WHAT`, by hand. Nothing of its code is here.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_judges import catalogue
from course_tasks import check

RUNS = 5

# Sentences of torch-judge that say what is wrong with an answer: parts of its messages.
SAYS_WHAT = (
    "not numerically stable",
    "Rows must sum to 1",
    "NaN with large logits",
    "Inf with large logits",
    "Loss must be a scalar",
    "Changing future K/V affected past outputs",
    "Position 0 should output V[0]",
    "eval mode should return input unchanged",
    "No zeros found during training",
    "should be scaled by 1/(1-p)",
    "zeros, got",
    "top_k=1 should return argmax",
    "Low temp should pick argmax",
    "grad is None",
    "Missing gradients",
)

Answer = Callable[..., Any]


@dataclass(frozen=True)
class Problem:
    """What both have.

    Attributes
    ----------
    ours, theirs : str
        The names of the task and of the problem.
    for_us, for_them : callable (answer) -> object
        Bring an answer into the form of either.
    right, wrong : mapping of str to answer
    """

    ours: str
    theirs: str
    for_us: Callable[[Answer], Any]
    for_them: Callable[[Answer], Any]
    right: dict[str, Answer]
    wrong: dict[str, Answer]


# Softmax of rows: (…, T) → (…, T).


def _softmax_for_us(answer: Answer) -> Any:
    def ours(scores: Tensor) -> Tensor:
        empty = (scores == -torch.inf).all(dim=-1, keepdim=True)
        return torch.where(empty, 0.0, answer(torch.where(empty, 0.0, scores)))

    return ours


def _over(x: Tensor, dim: int = -1) -> Tensor:
    e = (x - x.amax(dim=-1, keepdim=True)).exp()
    return e / e.sum(dim=dim, keepdim=True)


SOFTMAX = Problem(
    "02/safe-softmax",
    "softmax",
    _softmax_for_us,
    lambda answer: lambda x, dim=-1: answer(x),  # noqa: ARG005
    {
        "maximum subtracted": _over,
        "by logsumexp": lambda x: (x - x.logsumexp(dim=-1, keepdim=True)).exp(),
        "torch's own": lambda x: x.softmax(dim=-1),
    },
    {
        "overflows": lambda x: x.exp() / x.exp().sum(dim=-1, keepdim=True),
        "one maximum for all": lambda x: (
            (x - x.max()).exp() / (x - x.max()).exp().sum(dim=-1, keepdim=True)
        ),
        "clamped": lambda x: x.clamp(max=50).exp() / x.clamp(max=50).exp().sum(-1, keepdim=True),
        "mean subtracted": lambda x: (
            (x - x.mean()).exp() / (x - x.mean()).exp().sum(-1, keepdim=True)
        ),
        "over columns": lambda x: _over(x, 0),
        "not divided": lambda x: (x - x.amax(dim=-1, keepdim=True)).exp(),
        "base 2": lambda x: torch.softmax(x * math.log(2), dim=-1),
    },
)


# Mean cross-entropy: (N, V), (N,) → ().


def _loss_for_us(answer: Answer) -> Any:
    def ours(logits: Tensor, targets: Tensor) -> Tensor:
        counts = targets.flatten() >= 0
        flat: Tensor = logits.flatten(0, -2)[counts]
        found: Tensor = answer(flat, targets.flatten()[counts])
        return found

    return ours


def _nats(logits: Tensor, targets: Tensor) -> Tensor:
    return logits.logsumexp(dim=-1) - logits.gather(-1, targets[:, None])[:, 0]


CROSS_ENTROPY = Problem(
    "04/cross-entropy",
    "cross_entropy",
    _loss_for_us,
    lambda answer: answer,
    {
        "logsumexp": lambda z, y: _nats(z, y).mean(),
        "log_softmax": lambda z, y: -z.log_softmax(-1)[torch.arange(len(y)), y].mean(),
        "torch's own": F.cross_entropy,
    },
    {
        "overflows": lambda z, y: (z.exp().sum(-1).log() - z.gather(-1, y[:, None])[:, 0]).mean(),
        "sum for mean": lambda z, y: _nats(z, y).sum(),
        "sign": lambda z, y: -_nats(z, y).mean(),
        "softmax before": lambda z, y: _nats(z.softmax(-1), y).mean(),
        "base 2": lambda z, y: _nats(z, y).mean() / math.log(2),
        "clamped probabilities": lambda z, y: (
            -(z.softmax(-1).gather(-1, y[:, None]).clamp(min=1e-3).log().mean())
        ),
        "not averaged": _nats,
        "negative for logits": lambda z, y: _nats(-z, y).mean(),
    },
)


# Attention: (B, T, D), (B, S, D), (B, S, E) → (B, T, E).


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float | None = None,
    dim: int = -1,
    seen: Tensor | None = None,
    fill: float = -torch.inf,
) -> Tensor:
    scores = q @ k.transpose(-2, -1) / (q.shape[-1] ** 0.5 if scale is None else scale)
    if seen is not None:
        scores = scores.masked_fill(~seen, fill)
    found: Tensor = scores.softmax(dim=dim) @ v
    return found


def _cross_for_us(answer: Answer) -> Any:
    def ours(x: Tensor, memory: Tensor, *rest: Tensor) -> Tensor:
        w_query, w_key, w_value, lengths = rest
        query, key, value = x @ w_query, memory @ w_key, memory @ w_value
        if bool((lengths == memory.shape[1]).all()):
            whole: Tensor = answer(query, key, value)
            return whole
        return torch.cat(
            [
                answer(query[b : b + 1], key[b : b + 1, :n], value[b : b + 1, :n])
                for b, n in enumerate(lengths.tolist())
            ]
        )

    return ours


ATTENTION = Problem(
    "05/cross",
    "attention",
    _cross_for_us,
    lambda answer: answer,
    {
        "matrices": _attend,
        "einsum": lambda q, k, v: torch.einsum(
            "bts,bse->bte",
            (torch.einsum("btd,bsd->bts", q, k) / math.sqrt(q.shape[-1])).softmax(-1),
            v,
        ),
        "torch's own": F.scaled_dot_product_attention,
    },
    {
        "no scale": lambda q, k, v: _attend(q, k, v, scale=1.0),
        "scale without root": lambda q, k, v: _attend(q, k, v, scale=q.shape[-1]),
        "scale by values": lambda q, k, v: _attend(q, k, v, scale=v.shape[-1] ** 0.5),
        "over queries": lambda q, k, v: _attend(q, k, v, dim=-2),
        "scaled after": lambda q, k, v: _attend(q, k, v, scale=1.0) / q.shape[-1] ** 0.5,
        "sigmoid": lambda q, k, v: (q @ k.mT / q.shape[-1] ** 0.5).sigmoid() @ v,
        "one key hidden": lambda q, k, v: _attend(q, k[:, 1:], v[:, 1:]),
        "first sample for all": lambda q, k, v: _attend(q[:1], k[:1], v).expand(len(q), -1, -1),
    },
)


def _past(T: int, diagonal: int = 0) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril(diagonal)


def _concat_for_us(answer: Answer) -> Any:
    return lambda x, heads: torch.cat([answer(x @ q, x @ k, x @ v) for q, k, v in heads], dim=-1)


CAUSAL = Problem(
    "06/concat",
    "causal_attention",
    _concat_for_us,
    lambda answer: answer,
    {
        "masked": lambda q, k, v: _attend(q, k, v, seen=_past(q.shape[1])),
        "torch's own": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        "a large fill": lambda q, k, v: _attend(q, k, v, seen=_past(q.shape[1]), fill=-1e9),
    },
    {
        "no mask": _attend,
        "fill of 0": lambda q, k, v: _attend(q, k, v, seen=_past(q.shape[1]), fill=0.0),
        "no scale": lambda q, k, v: _attend(q, k, v, scale=1.0, seen=_past(q.shape[1])),
        "scale without root": lambda q, k, v: _attend(
            q, k, v, scale=q.shape[-1], seen=_past(q.shape[1])
        ),
        "over queries": lambda q, k, v: _attend(q, k, v, dim=-2, seen=_past(q.shape[1])),
        "one ahead": lambda q, k, v: _attend(q, k, v, seen=_past(q.shape[1], 1)),
        "first key only": lambda q, k, v: v[:, :1].expand_as(v) + 0 * (q.sum() + k.sum()),
        "values alone": lambda q, k, v: v + 0 * (q.sum() + k.sum()),
        "plain mean": lambda q, k, v: (
            v.cumsum(1) / torch.arange(1, v.shape[1] + 1)[:, None] + 0 * (q.sum() + k.sum())
        ),
    },
)


# Layer norm: (…, C), (C,), (C,), eps → (…, C).


def _normed(
    x: Tensor, gain: Tensor, shift: Tensor, eps: float, dim: int = -1, correction: int = 0
) -> Tensor:
    variance = x.var(dim=dim, keepdim=True, correction=correction)
    return (x - x.mean(dim=dim, keepdim=True)) / (variance + eps).sqrt() * gain + shift


def _norm_for_us(answer: Answer) -> Any:
    def ours(x: Tensor, gain: Tensor, shift: Tensor, groups: int, eps: float) -> Tensor:
        if groups == 1:
            whole: Tensor = answer(x, gain, shift, eps)
            return whole
        parts = x.unflatten(-1, (groups, -1))  # (B, T, G, C / G)
        one, zero = torch.ones_like(gain), torch.zeros_like(gain)
        size = parts.shape[-1]
        return answer(parts, one[:size], zero[:size], eps).flatten(-2) * gain + shift

    return ours


LAYER_NORM = Problem(
    "07/layer-norm",
    "layernorm",
    _norm_for_us,
    lambda answer: lambda x, gamma, beta, eps=1e-5: answer(x, gamma, beta, eps),
    {
        "by hand": _normed,
        "torch's own": lambda x, g, s, eps: F.layer_norm(x, x.shape[-1:], g, s, eps),
    },
    {
        "unbiased variance": lambda x, g, s, eps: _normed(x, g, s, eps, correction=1),
        "eps outside": lambda x, g, s, eps: (
            (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, correction=0) + eps) * g + s
        ),
        "no eps": lambda x, g, s, eps: _normed(x, g, s, 0.0 * eps),
        "variance for root": lambda x, g, s, eps: (
            (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + eps) * g + s
        ),
        "over positions": lambda x, g, s, eps: _normed(x, g, s, eps, dim=-2),
        "no shift": lambda x, g, s, eps: _normed(x, g, 0 * s, eps),
        "no mean": lambda x, g, s, eps: (
            x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * g + s
        ),
        "shift scaled": lambda x, g, s, eps: _normed(x, torch.ones_like(g), s, eps) * g,
    },
)


# Heads together: (B, T, C), (B, S, C), (B, S, C), H, what is seen or None → (B, T, C).


def _heads(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    H: int,
    seen: Tensor | None,
    *,
    scale: float | None = None,
    dim: int = -1,
    split: bool = True,
    merge: bool = True,
) -> Tensor:
    B, T, C = q.shape

    def cut(x: Tensor) -> Tensor:
        if split:
            return x.unflatten(-1, (H, -1)).transpose(1, 2)
        return x.reshape(B, H, x.shape[1], -1)

    found = _attend(cut(q), cut(k), cut(v), scale=scale, dim=dim, seen=seen)
    return found.transpose(1, 2).reshape(B, T, C) if merge else found.reshape(B, T, C)


def _fused_for_us(answer: Answer) -> Any:
    def ours(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
        T = x.shape[1]
        back = torch.arange(T)[:, None] - torch.arange(T)
        seen = (back >= 0) & (back < torch.tensor(reach)[:, None, None])
        found: Tensor = answer(*(x @ qkv.T).chunk(3, dim=-1), len(reach), seen)
        return found @ projection.T

    return ours


def _module_for_them(answer: Answer) -> Any:
    class MultiHeadAttention(nn.Module):
        def __init__(self, d_model: int, num_heads: int):
            super().__init__()
            self.num_heads = num_heads
            self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

        def forward(self, Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
            found = answer(self.W_q(Q), self.W_k(K), self.W_v(V), self.num_heads, None)
            mixed: Tensor = self.W_o(found)
            return mixed

    return MultiHeadAttention


MULTI_HEAD = Problem(
    "06/fused",
    "mha",
    _fused_for_us,
    _module_for_them,
    {
        "transposed": _heads,
        "a loop": lambda q, k, v, H, seen: torch.cat(
            [
                _attend(a, b, c, seen=None if seen is None else seen[h])
                for h, (a, b, c) in enumerate(
                    zip(*(x.chunk(H, dim=-1) for x in (q, k, v)), strict=True)
                )
            ],
            dim=-1,
        ),
    },
    {
        "cut by view": lambda q, k, v, H, seen: _heads(q, k, v, H, seen, split=False),
        "merged by view": lambda q, k, v, H, seen: _heads(q, k, v, H, seen, merge=False),
        "view both ways": lambda q, k, v, H, seen: _heads(
            q, k, v, H, seen, split=False, merge=False
        ),
        "scale by channels": lambda q, k, v, H, seen: _heads(
            q, k, v, H, seen, scale=q.shape[-1] ** 0.5
        ),
        "no scale": lambda q, k, v, H, seen: _heads(q, k, v, H, seen, scale=1.0),
        "over queries": lambda q, k, v, H, seen: _heads(q, k, v, H, seen, dim=-2),
        "one head": lambda q, k, v, H, seen: _attend(  # noqa: ARG005
            q, k, v, seen=None if seen is None else seen[0]
        ),
    },
)


# What is left of a row of logits: (V,), k → (V,) probabilities; the same with p.


def _top_k_for_us(answer: Answer) -> Any:
    return lambda logits, k: torch.stack(
        [answer(row, int(n)) for row, n in zip(logits, k.tolist(), strict=True)]
    )


def _sampled(logits: Tensor, temperature: float, shares: Callable[[Tensor], Tensor]) -> int:
    return int(torch.multinomial(shares(logits / temperature), 1))


def _top_k_for_them(answer: Answer) -> Any:
    def theirs(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> int:  # noqa: ARG001
        return _sampled(logits, temperature, lambda z: answer(z, top_k or len(z)))

    return theirs


def _left(logits: Tensor, keep: Tensor) -> Tensor:
    return logits.masked_fill(~keep, -torch.inf).softmax(dim=-1)


def _last(logits: Tensor, k: int) -> Tensor:
    return logits.sort(descending=True).values[min(k, len(logits)) - 1]


TOP_K = Problem(
    "08/top-k",
    "topk_sampling",
    _top_k_for_us,
    _top_k_for_them,
    {
        "threshold": lambda z, k: _left(z, z >= _last(z, k)),
        "counted": lambda z, k: _left(z, (z[None, :] > z[:, None]).sum(dim=1) < k),
    },
    {
        "one too many": lambda z, k: _left(z, z >= _last(z, k + 1)),
        "least likely": lambda z, k: _left(z, z <= z.sort().values[min(k, len(z)) - 1]),
        "first columns": lambda z, k: _left(z, torch.arange(len(z)) < k),
        "all alike": lambda z, k: (z >= _last(z, k)).float() / (z >= _last(z, k)).sum(),
        "nothing cut": lambda z, k: z.softmax(-1),  # noqa: ARG005
        "left sorted": lambda z, k: _left(z, z >= _last(z, k)).sort(descending=True).values,
    },
)


def _top_p_for_us(answer: Answer) -> Any:
    def ours(logits: Tensor, temperature: float, p: float, least: int) -> Tensor:
        rows = []
        for row in logits / temperature:
            shares = answer(row, p)
            kept = row >= _last(row, max(least, 1))
            rows.append(shares if bool((shares[kept] > 0).all()) else _left(row, kept))
        return torch.stack(rows)

    return ours


def _top_p_for_them(answer: Answer) -> Any:
    def theirs(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> int:
        def shares(z: Tensor) -> Tensor:
            found: Tensor = answer(_left(z, z >= _last(z, top_k or len(z))).log(), top_p)
            return found

        return _sampled(logits, temperature, shares)

    return theirs


def _nucleus(z: Tensor, p: float, before: bool = True, upwards: bool = False) -> Tensor:
    ranked, order = z.softmax(-1).sort(descending=not upwards)
    held = ranked.cumsum(-1) - (ranked if before else 0)
    kept = torch.zeros_like(z, dtype=torch.bool).scatter(0, order, held < p)
    kept = kept | (z >= z.max())
    return _left(z, kept)


TOP_P = Problem(
    "08/top-p",
    "topk_sampling",
    _top_p_for_us,
    _top_p_for_them,
    {"what is held before": _nucleus},
    {
        "crossing one dropped": lambda z, p: _nucleus(z, p, before=False),
        "summed upwards": lambda z, p: _nucleus(z, p, upwards=True),
        "single probabilities": lambda z, p: _left(
            z, z.softmax(-1) >= min(1 - p, z.softmax(-1).max())
        ),
        "nothing cut": lambda z, p: z.softmax(-1),  # noqa: ARG005
        "the likeliest only": lambda z, p: _left(z, z >= z.max()),  # noqa: ARG005
    },
)


# Dropout: anything, p, whether in training, generator or None → the same shape.


def _dropped(
    x: Tensor, p: float, training: bool, generator: torch.Generator | None, factor: float = -1.0
) -> Tensor:
    if not training:
        return x
    if p == 1:
        return torch.zeros_like(x)
    kept = torch.rand(x.shape, generator=generator) >= p
    return x * kept * (1 / (1 - p) if factor < 0 else factor)


def _dropout_for_us(answer: Answer) -> Any:
    def ours(found: Tensor, p: float, training: bool, generator: torch.Generator) -> Tensor:
        coins = torch.ones(*found.shape[:2], 1, 1)  # one for each sample and head
        dropped: Tensor = found * answer(coins, p, training, generator)
        return dropped

    return ours


def _dropout_for_them(answer: Answer) -> Any:
    class MyDropout(nn.Module):
        def __init__(self, p: float = 0.5):
            super().__init__()
            self.p = p

        def forward(self, x: Tensor) -> Tensor:
            dropped: Tensor = answer(x, self.p, self.training, None)
            return dropped

    return MyDropout


DROPOUT = Problem(
    "06/dropout",
    "dropout",
    _dropout_for_us,
    _dropout_for_them,
    {
        "compared with p": _dropped,
        "bernoulli": lambda x, p, t, g: (
            x * torch.full(x.shape, 1 - p).bernoulli(generator=g) / max(1 - p, 1e-9) if t else x
        ),
    },
    {
        "not scaled": lambda x, p, t, g: _dropped(x, p, t, g, factor=1.0),
        "in evaluation": lambda x, p, t, g: _dropped(x, p, True, g),  # noqa: ARG005
        "keeps with p": lambda x, p, t, g: _dropped(x, 1 - p, t, g, factor=1 / max(1 - p, 1e-9)),
        "divided by p": lambda x, p, t, g: _dropped(x, p, t, g, factor=1 / max(p, 1e-9)),
        "one coin a row": lambda x, p, t, g: (
            x * _dropped(torch.ones(*x.shape[:1], *[1] * (x.dim() - 1)), p, t, g)
        ),
        "0 divided by 0": lambda x, p, t, g: (
            x * (torch.rand(x.shape, generator=g) >= p) / torch.tensor(1 - p) if t else x
        ),
        "normal for uniform": lambda x, p, t, g: (
            x * (torch.randn(x.shape, generator=g) >= p) / max(1 - p, 1e-9) if t else x
        ),
    },
)

PROBLEMS = (
    SOFTMAX,
    CROSS_ENTROPY,
    ATTENTION,
    CAUSAL,
    MULTI_HEAD,
    LAYER_NORM,
    DROPOUT,
    TOP_K,
    TOP_P,
)


@dataclass(frozen=True)
class Said:
    """What one side made of one answer.

    Attributes
    ----------
    rejected : int
        In how many of `RUNS` runs.
    says : str
        What it said the first time that it rejected the answer.
    what : bool
        Whether that says what is wrong.
    """

    rejected: int
    says: str
    what: bool


def ours(problem: Problem, answer: Answer) -> Said:
    """Ask our check in several draws."""
    known = {mistake.name for mistake in catalogue.task(problem.ours).mistakes}
    adapted, rejected, first = problem.for_us(answer), 0, None
    for seed in range(RUNS):
        verdict = check(problem.ours, adapted, seed=seed)
        if verdict.points < verdict.out_of:
            rejected += 1
            first = first or verdict.findings[0]
    if first is None:
        return Said(0, "", what=False)
    return Said(rejected, f"{first.name}: {first.what}", what=first.name in known)


def theirs(problem: Problem, answer: Answer) -> Said:
    """Ask the tests of torch-judge, as its own engine runs them."""
    get_task = importlib.import_module("torch_judge.tasks").get_task

    task = get_task(problem.theirs)
    name = task["function_name"]
    adapted, rejected, first = problem.for_them(answer), 0, ""
    for seed in range(RUNS):
        torch.manual_seed(seed)  # some of its tests draw without a seed of their own
        failed = [message for test in task["tests"] if (message := _failure(test, name, adapted))]
        rejected += bool(failed)
        first = first or "; ".join(failed)
    return Said(rejected, first, what=any(part in first for part in SAYS_WHAT))


def _failure(test: dict[str, str], name: str, answer: Any) -> str:
    """What a test says of an answer that it does not pass; nothing of one that it does."""
    code = compile(test["code"].replace("{fn}", name), test["name"], "exec")
    try:
        exec(code, {name: answer})
    except Exception as error:  # its engine shows every error to the student
        return f"{test['name']}: {error or 'Assertion failed'}"
    return ""


def measure(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Both sides on every answer."""
    found = []
    for problem in problems:
        for kind, answers in (("right", problem.right), ("wrong", problem.wrong)):
            for name, answer in answers.items():
                sides = {"ours": ours(problem, answer), "theirs": theirs(problem, answer)}
                row = {
                    "task": problem.ours,
                    "problem": problem.theirs,
                    "kind": kind,
                    "answer": name,
                }
                found.append(row | {side: vars(said) for side, said in sides.items()})
    return found


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The result as Markdown: for each problem, and each side, the counts."""
    lines = [
        "| task here | problem there | wrong answers | rejected always: here | there "
        "| told what is wrong: here | there | right ones | refused: here | there |",
        "| :-- | :-- " + "| --: " * 8 + "|",
    ]
    names = list(dict.fromkeys((row["task"], row["problem"]) for row in rows))
    for task, problem in [*names, ("all", "")]:
        chosen = [r for r in rows if task == "all" or (r["task"], r["problem"]) == (task, problem)]
        wrong = [r for r in chosen if r["kind"] == "wrong"]
        right = [r for r in chosen if r["kind"] == "right"]
        counts = [len(wrong)]
        counts += [sum(r[s]["rejected"] == RUNS for r in wrong) for s in ("ours", "theirs")]
        counts += [sum(r[s]["what"] for r in wrong) for s in ("ours", "theirs")]
        counts += [len(right)]
        counts += [sum(r[s]["rejected"] > 0 for r in right) for s in ("ours", "theirs")]
        lines.append(f"| {task} | {problem} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, store every row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, help="a JSON file for the result")
    chosen = parser.parse_args(arguments)
    try:
        version = importlib.metadata.version("torch-judge")
    except importlib.metadata.PackageNotFoundError:
        parser.error("torch-judge is not installed: python -m pip install torch-judge==0.1.1")
    warnings.simplefilter("ignore")
    rows = measure(PROBLEMS)
    print(table(rows))
    if chosen.to:
        about = {"torch-judge": version, "torch": torch.__version__, "runs": RUNS}
        text = json.dumps({**about, "answers": rows}, indent=1, ensure_ascii=False)
        chosen.to.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
