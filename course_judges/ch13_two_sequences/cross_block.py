"""Judges 13/cross-block: cross-attention over a memory that may be empty."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG001, ARG002, ARG005

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from course_judges import families
from course_judges.ch13_two_sequences.sections import ATTENTION, MODEL
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.mixtures import weights_on
from course_judges.wording import number, numbers_apart, row, unwrapped
from course_tasks.verdict import Finding


def _softmax(scores, hidden):
    weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    return weights.masked_fill(hidden.all(dim=-1, keepdim=True), 0.0)


class CrossAttention(nn.Module):
    """x asks, memory answers; what comes back is added to x."""

    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def read(self, x):
        """What is asked with."""
        return self.norm(x)

    def queries(self, x):
        """What each position asks, of all heads."""
        return self.query(self.read(x))

    def values(self, memory):
        """What each word of the memory says, to all heads."""
        return self.value(memory)

    def split(self, x):
        """(B, T, C) → (B, H, T, D)."""
        return x.unflatten(-1, (self.n_head, -1)).transpose(1, 2)

    def merge(self, found):
        """(B, H, T, D) → (B, T, C)."""
        return found.transpose(1, 2).flatten(2)

    def scale(self, n_embd, n_memory):
        """What scores are divided by."""
        return math.sqrt(n_embd // self.n_head)

    def weigh(self, scores, hidden):
        """(B, H, T, S), and (B, 1, 1, S) for what is hidden → weights."""
        return _softmax(scores, hidden)

    def add(self, x, found):
        """What leaves the block."""
        return x + self.projection(found)

    def forward(self, x, memory, real):
        """(B, T, C), (B, S, M), (B, S) → (B, T, C)."""
        q = self.split(self.queries(x))
        k, v = self.split(self.key(memory)), self.split(self.values(memory))
        scores = q @ k.mT / self.scale(x.shape[-1], memory.shape[-1])
        return self.add(x, self.merge(self.weigh(scores, ~real[:, None, None]) @ v))


def _with(**methods: Callable[..., Any]) -> Any:
    return type("Answer", (CrossAttention,), methods)


def _off(evidence: Evidence) -> str:
    for case in ("whole", "padded", "empty"):
        if evidence.comparable(case) and not evidence.same(case):
            mine, right = evidence.yours(case), evidence.right(case)
            gap = np.nan_to_num(np.abs(mine - right), nan=np.inf)
            b, t, c = (int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))
            one, other = numbers_apart(float(mine[b, t, c]), float(right[b, t, c]))
            return unwrapped(f"""Farthest off: sample {b}, position {t}, channel {c}, yours
            {one}, expected {other}.""")
    return ""


def _sizes(evidence: Evidence) -> str:
    C, H, M = (evidence.number(name) for name in "CHM")
    return f"C = {C}, H = {H}, so D = {C // H}; M = {M}. {_off(evidence)}"


def _padded(evidence: Evidence) -> str:
    real = evidence.inputs["real"]
    return unwrapped(f"""Sample 0 has {int(real[0].sum())} words and {int((~real[0]).sum())} of
    padding. {_off(evidence)}""")


def _nobody(evidence: Evidence) -> str:
    b = int((~evidence.inputs["empty"]).all(axis=1).argmax())
    return f"The memory of sample {b} holds no word at all. {_off(evidence)}"


def _causal(self, scores, hidden):
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return _softmax(scores, hidden | future)


def _sample_by_sample(kind: Any) -> Any:
    """The same for each sample and its words alone; padding is not even looked at."""

    def forward(self, x, memory, real):
        rows = []
        for b, words in enumerate(real):
            own = x[b : b + 1], memory[b : b + 1, words]
            rows.append(
                kind.forward(self, *own, words[None, words]) if words.any() else x[b : b + 1]
            )
        return torch.cat(rows)

    return type("Answer", (kind,), {"forward": forward})


def _first_head_only(self, x):
    return x[:, None]


_no_residual = mistake("What was found replaces `x`; it should be added to it.", _off, MODEL)(
    _with(add=lambda self, x, found: self.projection(found))
)

_residual_twice = mistake("`x` was added twice.", _off, MODEL)(
    _with(add=lambda self, x, found: x + x + self.projection(found))
)

_no_norm = mistake("The queries come from `x` as it is; normalize it first.", _off, MODEL)(
    _with(read=lambda self, x: x)
)

_post_norm = mistake(
    "You normalized the sum; normalize what the queries are made from.", _off, MODEL
)(
    _with(
        read=lambda self, x: x,
        add=lambda self, x, found: self.norm(x + self.projection(found)),
    )
)

_normed_stream = mistake(
    "The normalized `x` went on; only the queries should read it.", _off, MODEL
)(_with(add=lambda self, x, found: self.norm(x) + self.projection(found)))

_sum_projected = mistake(
    "You projected the sum of `x` and what was found; only what was found is projected.",
    _off,
    MODEL,
)(_with(add=lambda self, x, found: self.projection(x + found)))

_found_normed = mistake(
    "What was found is normalized before it is added; only what asks is.", _off, MODEL
)(
    _with(add=lambda self, x, found: x + self.norm(self.projection(found))),
)


_queries_normed = mistake(
    "You normalized the queries; normalize `x`, and make the queries of that.", _off, MODEL
)(_with(queries=lambda self, x: self.norm(self.query(x))))


def _with_eps(eps: float) -> Any:
    def read(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias, eps)

    return _with(read=read)


_another_eps = mistake(
    "Your norm adds another eps under the root than `nn.LayerNorm` does unless told, 1e−5.",
    _off,
    MODEL,
    also=tuple(_with_eps(eps) for eps in (0.1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-12)),
)(_with_eps(1e-3))

_norm_without_weights = mistake(
    "The norm's gain and shift have no effect on your queries.", _off, MODEL
)(_with(read=lambda self, x: nn.functional.layer_norm(x, x.shape[-1:])))

_found_normed_first = mistake(
    "What was found is normalized before it is projected; only what asks is.", _off, MODEL
)(_with(add=lambda self, x, found: x + self.projection(self.norm(found))))

_normed_twice = mistake(
    "You normalized `x` and the sum; only what asks is normalized.", _off, MODEL
)(_with(add=lambda self, x, found: self.norm(x + self.projection(found))))

_values_of_keys = mistake(
    "Values are made by the key layer; they have a layer of their own.", _off
)(_with(values=lambda self, memory: self.key(memory)))


class _LooksAtItself(CrossAttention):
    """Makes keys and values of `x`, normalized or not, all of whose positions are real."""

    normed = False

    def forward(self, x, memory, real):
        own = self.norm(x) if self.normed else x
        found = super().forward(x, own, torch.ones(x.shape[:2], dtype=torch.bool))
        return torch.where(real.any(dim=1)[:, None, None], found, x)


class _LooksAtItsNorm(_LooksAtItself):
    normed = True


def _keys_or_values_made_of_x(evidence: Evidence) -> bool:
    """Something with the channels and positions of `x` goes into the layer of keys or values: it
    does not fit, or where it does, comes out.
    """
    x, M, H = evidence.inputs["x"], evidence.number("M"), evidence.number("H")
    B, T, C = x.shape
    if "whole" in evidence.answers.errors:
        said = evidence.answers.errors["whole"].message
        return C != M and any(f"({n}x{C} and {M}x{C})" in said for n in (B * T, T))
    if C != M or not evidence.comparable("whole"):
        return False
    for kind in (_LooksAtItself, _LooksAtItsNorm):
        module = kind(C, M, H)
        linear = ("query", "key", "value", "projection")
        weights = {f"{name}.weight": evidence.inputs[name] for name in linear}
        weights |= {"norm.weight": evidence.inputs["gain"], "norm.bias": evidence.inputs["shift"]}
        module.load_state_dict({n: torch.from_numpy(w) for n, w in weights.items()})
        given = (torch.from_numpy(evidence.inputs[name]) for name in ("x", "memory", "all"))
        with torch.no_grad():
            if close(module(*given).numpy(), evidence.yours("whole")).all():
                return True
    return False


_looks_at_itself = mistake(
    "What your keys or values are made of is `x`; they are made of `memory`.",
    lambda e: unwrapped(f"""`x` has T = {e.number("T")} positions of C = {e.number("C")} channels,
    and the memory S = {e.number("S")} places of M = {e.number("M")}, which is what `key` and
    `value` take in. {_off(e)}""").strip(),
    recognized=_keys_or_values_made_of_x,
)(_LooksAtItself)

_scores_of_all_heads = mistake(
    "All heads look with the mean of their scores; each head looks with its own.", _sizes
)(_with(weigh=lambda self, s, hidden: _softmax(s.mean(1, keepdim=True), hidden)))

_no_projection = mistake("What the heads found was added without the projection.", _off)(
    _with(add=lambda self, x, found: x + found)
)

_no_scale = families.no_scale(_sizes)(_with(scale=lambda self, C, M: 1.0))

_scale_by_channels = families.scale_by_channels(_sizes)(
    _with(scale=lambda self, C, M: math.sqrt(C))
)

_scale_by_memory = mistake(
    "You divided the scores by √M; a score is a sum of D products, so the scale is √D.", _sizes
)(_with(scale=lambda self, C, M: math.sqrt(M)))

_scale_without_the_root = mistake("You divided the scores by D; the scale is √D.", _sizes)(
    _with(scale=lambda self, C, M: C // self.n_head)
)

_heads_averaged = mistake(
    "What the heads found is divided by their number; side by side, nothing is divided.", _sizes
)(_with(add=lambda self, x, found: x + self.projection(found) / self.n_head))

_softmax_over_heads = mistake(
    "Your softmax runs over the heads; each head's weights sum to 1 over the memory.", _sizes
)(
    _with(
        weigh=lambda self, s, hidden: (
            s.masked_fill(hidden, -1e9).softmax(dim=1).masked_fill(hidden, 0.0)
        )
    )
)

_scale_by_heads = mistake("You divided the scores by √H; the scale is √D.", _sizes)(
    _with(scale=lambda self, C, M: math.sqrt(self.n_head))
)

_one_head = mistake("All C channels make one head; there should be H of them.", _sizes)(
    _with(
        split=_first_head_only,
        scale=lambda self, C, M: math.sqrt(C),
        merge=lambda self, found: found[:, 0],
    )
)

_split_by_view = _with(split=lambda self, x: x.reshape(len(x), self.n_head, x.shape[1], -1))

_scrambled_split = mistake(
    "A view to (B, H, T, D) cuts across positions: split into (B, T, H, D), then transpose.",
    _sizes,
    also=(_sample_by_sample(_split_by_view),),
)(_split_by_view)

_heads_interleaved = mistake(
    "Your heads take every H-th channel; the D channels of a head stand side by side.",
    lambda e: f"Unflatten C into (H, D), not into (D, H). {_sizes(e)}",
    also=(
        _with(
            split=lambda self, x: x.unflatten(-1, (-1, self.n_head)).permute(0, 3, 1, 2),
            merge=lambda self, found: found.permute(0, 2, 3, 1).flatten(2),
        ),
    ),
)(_with(split=lambda self, x: x.unflatten(-1, (-1, self.n_head)).permute(0, 3, 1, 2)))

_scrambled_merge = mistake("The heads were merged without moving H behind T first.", _sizes)(
    _with(merge=lambda self, found: found.reshape(len(found), found.shape[2], -1))
)

_causal_mask_kept = mistake(
    "You kept the causal mask: position t sees only the first t + 1 of the memory.",
    lambda e: f"{_off(e)} The memory is all there from the start.",
    also=(_sample_by_sample(_with(weigh=_causal)),),
)(_with(weigh=_causal))

_softmax_over_queries = families.softmax_over_queries(_off)(
    _with(
        weigh=lambda self, s, hidden: s.softmax(dim=-2).masked_fill(hidden, 0.0),
    ),
)

_sigmoid_for_softmax = mistake(
    "Each weight is a sigmoid of its own score, so a row does not sum to 1.", _off
)(_with(weigh=lambda self, s, hidden: s.sigmoid().masked_fill(hidden, 0.0)))

_activated = mistake(
    "What the projection gives passes a ReLU before it is added; nothing negative comes through.",
    _off,
    MODEL,
)(_with(add=lambda self, x, found: x + self.projection(found).relu()))

_padding_seen = mistake("`real` has no effect: padding is averaged too.", _padded)(
    _with(weigh=lambda self, s, hidden: s.softmax(dim=-1))
)

_inverted_mask = mistake("You hid the words and kept the padding.", _padded)(
    _with(weigh=lambda self, s, hidden: _softmax(s, ~hidden))
)


class _PaddingZeroed(CrossAttention):
    """Zeros in the memory make scores of 0, and values of 0."""

    def forward(self, x, memory, real):
        return super().forward(x, memory * real[..., None], torch.ones_like(real))


_lowered_too_little = mistake(
    "You lower the scores of padding by too little, or to a number that words may have: use −inf.",
    _padded,
    also=(_with(weigh=lambda self, s, hidden: (s - 1.0 * hidden).softmax(dim=-1)),),
)(_with(weigh=lambda self, s, hidden: s.masked_fill(hidden, -1.0).softmax(dim=-1)))

_real_of_the_first = mistake(
    "All samples are masked with `real` of the first one; each has its own.", _padded
)(_with(weigh=lambda self, s, hidden: _softmax(s, hidden[:1].expand(len(s), -1, -1, -1))))

_zero_mask = families.zero_mask(_padded, also=(_PaddingZeroed,))(
    _with(weigh=lambda self, s, hidden: s.masked_fill(hidden, 0.0).softmax(dim=-1))
)

_masked_after_softmax = families.masked_after_softmax(_padded)(
    _with(weigh=lambda self, s, hidden: s.softmax(dim=-1).masked_fill(hidden, 0.0))
)


class _OnlyWithoutPadding(CrossAttention):
    """Takes a sample with some padding for one that has no word."""

    def forward(self, x, memory, real):
        found = super().forward(x, memory, real)
        return torch.where(real.all(dim=1)[:, None, None], found, x)


_padding_for_no_word = mistake(
    "Any padding leaves a sample unchanged; it should be only where there is no word at all.",
    lambda e: f"`real.any(dim=1)` asks for a word, `real.all(dim=1)` for no padding. {_padded(e)}",
)(_OnlyWithoutPadding)


class _SumWithMore(CrossAttention):
    """Divides by the sum of what e makes of the scores, and something more."""

    more = 1.0
    stable = False

    def weigh(self, s, hidden):
        e = (s - s.amax(dim=-1, keepdim=True) if self.stable else s).exp().masked_fill(hidden, 0.0)
        return e / (e.sum(dim=-1, keepdim=True) + self.more)


_more_in_the_sum = mistake(
    "Your weights are divided by their sum and something more, so they do not sum to 1.",
    lambda e: unwrapped(f"""If it is there so that nothing is divided by 0: a sum of e^s may be as
    small as that. Set the weights to 0 where there is no word instead. {_off(e)}"""),
    also=tuple(
        type("Answer", (_SumWithMore,), {"more": more, "stable": stable})
        for more, stable in (
            *((more, False) for more in (1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-9)),
            (1.0, True),
            (1e-3, True),
        )
    ),
)(_SumWithMore)

_nan_weights = _with(weigh=lambda self, s, hidden: s.masked_fill(hidden, -torch.inf).softmax(-1))

_padding_averaged = _with(weigh=lambda self, s, hidden: s.masked_fill(hidden, -1e9).softmax(dim=-1))


def _nobody_at_all(kind: Any) -> Any:
    """Looks whether all samples of the batch have no word, and not whether one has none."""

    def forward(self, x, memory, real):
        return kind.forward(self, x, memory, real) if real.any() else x

    return type("Answer", (kind,), {"forward": forward})


def _nobody_among_others(evidence: Evidence) -> str:
    words = evidence.inputs["empty"].any(axis=1)
    return unwrapped(f"""The memory of sample {words.argmin()} has no word, that of sample
    {words.argmax()} has some, so `real.any()` is true for the batch. `real.any(dim=1)` asks each
    sample; where it is false, `x` should come out. {_off(evidence)}""")


_whole_batch_asked = mistake(
    "`x` comes out unchanged only if no sample of the batch has a word; ask each sample by itself.",
    _nobody_among_others,
    also=(_nobody_at_all(_padding_averaged),),
)(_nobody_at_all(_nan_weights))

# What to do about a softmax over nothing.
_KEEP = "`real.any(dim=1)` tells which samples have a word; where it is false, keep `x`."

_nan_for_nobody = mistake(
    "Where the memory holds no word, your output is NaN; `x` should come out unchanged.",
    lambda e: f"{_nobody(e)} The softmax of a row of −inf is 0 / 0. {_KEEP}",
)(_nan_weights)

_padding_for_nobody = mistake(
    "Where the memory holds no word, you average its padding; `x` should come out unchanged.",
    lambda e: (
        f"{_nobody(e)} Large negative scores that are all equal make an even softmax. {_KEEP}"
    ),
)(_padding_averaged)


def _for_nobody(instead: Callable[..., Any]) -> Any:
    """Where there is no word, something else than `x` comes out."""

    def forward(self, x, memory, real):
        nobody = ~real.any(dim=1)[:, None, None]
        return torch.where(nobody, instead(self, x), CrossAttention.forward(self, x, memory, real))

    return _with(forward=forward)


class _NobodyForAll(CrossAttention):
    """Gives up on the whole batch as soon as one sample has no word."""

    def forward(self, x, memory, real):
        return super().forward(x, memory, real) if real.any(dim=1).all() else x


_one_nobody_for_all = mistake(
    "One sample without a word leaves all samples of the batch unchanged; it should be that one.",
    _nobody,
)(_NobodyForAll)

_zeros_for_nobody = mistake(
    "Where the memory holds no word, you return zeros; `x` should come out unchanged.", _nobody
)(_for_nobody(lambda self, x: torch.zeros_like(x)))

_normed_for_nobody = mistake(
    "Where the memory holds no word, you return the normalized `x`; it should be as it came.",
    _nobody,
    MODEL,
)(_for_nobody(lambda self, x: self.norm(x)))


@mistake("The memory is normalized, too; it should be used as it is.", _off, MODEL)
class _MemoryNormed(CrossAttention):
    def forward(self, x, memory, real):
        memory = nn.functional.layer_norm(memory, memory.shape[-1:])
        return super().forward(x, memory, real)


@mistake(
    "Your linear layers have biases; the task asks for layers without.",
    lambda e: unwrapped(f"""There are {int(e.yours("biases"))} entries in vectors beside the four
    matrices and the norm. `nn.Linear` has a bias unless it is told `bias=False`."""),
    recognized=lambda e: e.same("whole", "padded", "empty") and bool(e.yours("biases") > 0),
)
class _WithBiases(CrossAttention):
    def __init__(self, n_embd, n_memory, n_head):
        super().__init__(n_embd, n_memory, n_head)
        self.query = nn.Linear(n_embd, n_embd)
        self.key = nn.Linear(n_memory, n_embd)
        self.value = nn.Linear(n_memory, n_embd)
        self.projection = nn.Linear(n_embd, n_embd)


def _found_by_heads(evidence: Evidence, answer: Any) -> Any:
    """(B, T, H, D): what was found before the projection, if that is what was added to x."""
    x, projection = (evidence.inputs[name].astype(float) for name in ("x", "projection"))
    found = np.linalg.solve(projection, (answer.astype(float) - x).reshape(-1, x.shape[-1]).T).T
    return found.reshape(*x.shape[:2], evidence.number("H"), -1)


def _other_weights(evidence: Evidence) -> Finding | None:
    """With which weights one head looks, read off what was added to x."""
    case, real = next(
        (pair for pair in _REAL if not evidence.same(pair[0])),
        ("", ""),
    )
    if not case or not evidence.comparable(case):
        return None
    ratio = evidence.yours(case) / evidence.right(case)
    if np.ptp(ratio) < 1e-3 * abs(ratio.mean()):
        return None  # one factor for all says more
    H = evidence.number("H")
    memory, value = (evidence.inputs[name].astype(float) for name in ("memory", "value"))
    values = (memory @ value.T).reshape(*memory.shape[:2], H, -1)  # (B, S, H, D)
    mine, right = (
        _found_by_heads(evidence, side(case)) for side in (evidence.yours, evidence.right)
    )
    shown = np.abs(mine - right).max(axis=-1)
    b, t, h = (int(i) for i in np.unravel_index(int(shown.argmax()), shown.shape))
    weights, wanted = (weights_on(values[b, :, h], side[b, t, h]) for side in (mine, right))
    place = f"Sample {b}, position {t}, head {h}:"
    if wanted is None:  # so few channels that other weights could have made them as well
        return Finding("other-weights", "Another thing is added to `x`.", _off(evidence), ATTENTION)
    if weights is None:
        return Finding(
            "other-weights",
            "What you add to `x` is not a projected mean of the memory's values.",
            f"{place} undo the projection of what you add, and what is left is no sum of the "
            "values of this head, whatever their weights. So look at what is added to `x`, at the "
            f"values, and at which channels make a head. {_off(evidence)}",
            ATTENTION,
        )
    total, hidden = float(weights.sum()), weights[~evidence.inputs[real][b]]
    told = ""
    if abs(total - 1) > _READABLE:
        told += f" Yours sum to {number(total)}."
    if abs(hidden).max(initial=0) > _READABLE:
        told += f" On padding you put {number(float(hidden.sum()))}."
    told = told or (
        " They sum to 1, so look at the scores: queries, with their norm, keys, and the scale."
    )
    return Finding(
        "other-weights",
        "What you add to `x` is made of the memory's values, with other weights.",
        f"{place} you look at the memory with {row(weights.round(_DIGITS))}; expected "
        f"{row(wanted.round(_DIGITS))}.{told}",
        ATTENTION,
    )


# In which cases which words of the memory are real.
_REAL = (("whole", "all"), ("padded", "real"), ("empty", "empty"))
# Weights are read off numbers in single precision: smaller ones say little.
_READABLE = 1e-3
# Later digits of a weight are rounding.
_DIGITS = 6


TASK = Task(
    "Cross-attention over a memory that may be empty",
    CrossAttention,
    ATTENTION,
    (
        Part("Every position of `x` gets what all heads found in the memory.", 2, matches("whole")),
        Part("Padding of the memory gets no weight.", 2, matches("padded")),
        Part("Where there is nothing to ask, `x` is unchanged.", 1, matches("empty")),
        Part("And no linear layer has a bias.", 1, matches("whole", "biases")),
    ),
    cases=("whole", "padded", "empty"),
    properties=(_other_weights,),
)
