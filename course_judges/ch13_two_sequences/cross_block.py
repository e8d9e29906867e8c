"""Judges 13/cross-block: cross-attention over a memory that may be empty."""

# mypy: allow-untyped-defs
# ruff: noqa: ARG005

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from course_judges import families
from course_judges.attention_weights import masks_taken, weights_on
from course_judges.ch13_two_sequences.sections import ATTENTION, MODEL
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import number, numbers_apart, row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


class CrossAttention(nn.Module):
    """Queries come from x, keys and values from the memory; what is found is added to x."""

    def __init__(self, n_embd, n_memory, n_head):
        super().__init__()
        self.n_head = n_head
        self.norm = nn.LayerNorm(n_embd)
        self.query = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_memory, n_embd, bias=False)
        self.value = nn.Linear(n_memory, n_embd, bias=False)
        self.projection = nn.Linear(n_embd, n_embd, bias=False)

    def split(self, x):
        """(B, T, C) → (B, H, T, D)."""
        heads = x.unflatten(-1, (self.n_head, -1))
        return heads.transpose(1, 2)  # the split into heads (B, H, T, D)

    def weigh(self, scores, real):
        """(B, H, T, S), (B, S) → weights, all 0 where there is no word."""
        hidden = ~real[:, None, None]
        weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)  # the weights (B, H, T, S)
        nobody = ~real.any(dim=1)[:, None, None, None]
        return weights.masked_fill(nobody, 0.0)  # the weights without any word (B, H, T, S)

    def merge(self, found):
        """(B, H, T, D) → (B, T, C)."""
        return found.transpose(1, 2).flatten(2)  # the heads side by side (B, T, C)

    def forward(self, x, memory, real):
        """(B, T, C), (B, S, M), (B, S) → (B, T, C)."""
        normalized = self.norm(x)
        q = self.split(self.query(normalized))  # the queries (B, H, T, D)
        k = self.split(self.key(memory))
        v = self.split(self.value(memory))  # the values (B, H, S, D)
        D = q.shape[-1]  # D
        scores = q @ k.mT / math.sqrt(D)  # the scores (B, H, T, S)
        found = self.weigh(scores, real) @ v
        merged = self.merge(found)
        added = self.projection(merged)  # what is added (B, T, C)
        return x + added  # your output (B, T, C)


def _off(evidence: Evidence) -> str:
    for case in ("whole", "padded", "empty"):
        if evidence.comparable(case) and not evidence.same(case):
            mine, right = evidence.yours(case), evidence.right(case)
            gap = np.nan_to_num(np.abs(mine - right), nan=np.inf)
            b, t, c = (int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))
            one, other = numbers_apart(float(mine[b, t, c]), float(right[b, t, c]))
            return unwrapped(f"""The largest difference is in sample {b}, position {t}, channel {c},
            where you have {one} instead of {other}.""")
    return ""


def _sizes(evidence: Evidence) -> str:
    C, H, M = (evidence.number(name) for name in "CHM")
    return f"Here C = {C}, H = {H}, D = C / H = {C // H}, and M = {M}. {_off(evidence)}"


def _padded(evidence: Evidence) -> str:
    words = int(evidence.inputs["real"][0].sum())
    padding = evidence.number("S") - words
    return unwrapped(f"""The memory of sample 0 has {words} word{"s" * (words > 1)} and
    {padding} place{"s" * (padding > 1)} of padding. {_off(evidence)}""")


def _no_word(evidence: Evidence) -> str:
    b = int((~evidence.inputs["empty"]).all(axis=1).argmax())
    return f"The memory of sample {b} holds no word. {_off(evidence)}"


@mistake(
    "You normalized the sum at the end instead of the `x` that queries are made from.", _off, MODEL
)
class _PostNorm(CrossAttention):
    def forward(self, x, memory, real):
        without = copy.copy(self)
        without._modules = {**self._modules, "norm": nn.Identity()}
        return self.norm(CrossAttention.forward(without, x, memory, real))


_normed_stream = mistake(
    "You added what was found to the normalized `x`, but only the queries should use that.",
    _off,
    MODEL,
)(Like("used-normalized-instead-of-x-in-your-output"))


@mistake("You normalized the memory, too, but it should be used as it is.", _off, MODEL)
class _MemoryNormed(CrossAttention):
    def forward(self, x, memory, real):
        return super().forward(x, nn.functional.layer_norm(memory, memory.shape[-1:]), real)


class _Interleaved(CrossAttention):
    def split(self, x):
        return x.unflatten(-1, (-1, self.n_head)).permute(0, 3, 1, 2)


class _InterleavedTwice(_Interleaved):
    def merge(self, found):
        return found.permute(0, 2, 3, 1).flatten(2)


def _with(**methods: Callable[..., Any]) -> Any:
    return type("Answer", (CrossAttention,), methods)


def _first_head_only(self, x):  # noqa: ARG001
    return x[:, None]


_one_head = mistake("You used a single head with all C channels instead of H heads.", _sizes)(
    _with(
        split=_first_head_only,
        scale=lambda self, C, M: math.sqrt(C),
        merge=lambda self, found: found[:, 0],
    )
)


def _sample_by_sample(kind: Any) -> Any:
    """The same answer, called for each sample with only the words of its memory."""

    def forward(self, x, memory, real):
        rows = []
        for b, words in enumerate(real):
            own = x[b : b + 1], memory[b : b + 1, words]
            rows.append(
                kind.forward(self, *own, words[None, words]) if words.any() else x[b : b + 1]
            )
        return torch.cat(rows)

    return type("Answer", (kind,), {"forward": forward})


_split_by_view = _with(split=lambda self, x: x.reshape(len(x), self.n_head, x.shape[1], -1))


_scrambled_split = mistake(
    "You viewed (B, T, C) as (B, H, T, D), which mixes up positions and heads.",
    lambda e: f"Split into (B, T, H, D) first, and then transpose. {_sizes(e)}",
    also=(_sample_by_sample(_split_by_view),),
)(_split_by_view)


_heads_interleaved = mistake(
    "Your heads are made of every H-th channel, but a head has D neighboring channels.",
    lambda e: f"Unflatten C into (H, D), not into (D, H). {_sizes(e)}",
    also=(_InterleavedTwice,),
)(_Interleaved)


class _LooksAtItself(CrossAttention):
    """Makes keys and values from `x`, normalized or not, and hides no position."""

    normed = False

    def forward(self, x, memory, real):  # noqa: ARG002
        own = self.norm(x) if self.normed else x
        found = super().forward(x, own, torch.ones(x.shape[:2], dtype=torch.bool))
        return torch.where(real.any(dim=1)[:, None, None], found, x)


class _LooksAtItsNorm(_LooksAtItself):
    normed = True


def _keys_or_values_made_of_x(evidence: Evidence) -> bool:
    """Whether the layer of keys or values gets something with the channels and positions of `x`.
    The error tells or, if M = C, the output does.
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
    "You made keys or values from `x` instead of `memory`.",
    lambda e: (
        unwrapped(f"""`x` has T = {e.number("T")} positions with C = {e.number("C")} channels, and
    the memory has S = {e.number("S")} places with M = {e.number("M")} channels, which is what `key`
    and `value` expect. {_off(e)}""").strip()
    ),
    recognized=_keys_or_values_made_of_x,
)(_LooksAtItself)


_no_scale = families.no_scale(_sizes)(Like("left-out-the-division-by-root-of-D-in-the-scores"))


@mistake(
    "You used a causal mask, so position t sees only the first t + 1 places of the memory.",
    lambda e: f"{_off(e)} The whole memory is known from the start.",
)
class _CausalMaskKept(CrossAttention):
    def weigh(self, scores, real):
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return super().weigh(scores.masked_fill(future, -torch.inf), real).nan_to_num(0.0)


@families.zero_mask(_padded)
class _ZeroMask(CrossAttention):
    def weigh(self, scores, real):
        return scores.masked_fill(~real[:, None, None], 0.0).softmax(dim=-1)


@mistake("You used a sigmoid instead of a softmax, so the weights of a row don't sum to 1.", _off)
class _SigmoidForSoftmax(CrossAttention):
    def weigh(self, scores, real):
        return scores.sigmoid().masked_fill(~real[:, None, None], 0.0)


@mistake(
    "You set the padding of the memory to 0, but don't hide its scores.",
    lambda e: (
        unwrapped(f"""{_padded(e)} A key of 0 gives a score of 0, and since e⁰ = 1, padding still
    gets weight. Its score needs to be −inf.""")
    ),
)
class _PaddingZeroed(CrossAttention):
    def forward(self, x, memory, real):
        return super().forward(x, memory * real[..., None], torch.ones_like(real))


class _OnlyWithoutPadding(CrossAttention):
    """Treats a sample with some padding as one that has no word."""

    def forward(self, x, memory, real):
        found = super().forward(x, memory, real)
        return torch.where(real.all(dim=1)[:, None, None], found, x)


_padding_for_no_word = mistake(
    "You leave a sample unchanged if it has any padding, instead of only if it has no word.",
    lambda e: (
        "`real.any(dim=1)` tells whether there is a word, but `real.all(dim=1)` whether there is "
        "no "
        f"padding. {_padded(e)}"
    ),
)(_OnlyWithoutPadding)


class _SumWithMore(CrossAttention):
    """Adds something to the sum that weights are divided by."""

    more = 1.0
    stable = False

    def weigh(self, scores, real):
        most = scores.amax(dim=-1, keepdim=True) if self.stable else 0.0
        e = (scores - most).exp().masked_fill(~real[:, None, None], 0.0)
        return e / (e.sum(dim=-1, keepdim=True) + self.more)


_more_in_the_sum = mistake(
    "You divide the weights by their sum plus something, so they don't sum to 1.",
    lambda e: (
        unwrapped(f"""If it should prevent a division by 0, remember that a sum of e^s may be as
    small as that. Set the weights to 0 where there is no word instead. {_off(e)}""")
    ),
    also=tuple(
        type("Answer", (_SumWithMore,), {"more": more, "stable": stable})
        for more, stable in (
            *((more, False) for more in (1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-9)),
            (1.0, True),
            (1e-3, True),
        )
    ),
)(_SumWithMore)


def _for_nobody(instead: Callable[..., Any]) -> Any:
    """An answer that returns something else than `x` where there is no word."""

    def forward(self, x, memory, real):
        nobody = ~real.any(dim=1)[:, None, None]
        found = CrossAttention.forward(self, x, memory, real)
        return torch.where(nobody, instead(self, x, memory), found)

    return type("Answer", (CrossAttention,), {"forward": forward})


_nan = _for_nobody(lambda self, x, memory: torch.full_like(x, torch.nan))
_padding_averaged = _for_nobody(
    lambda self, x, memory: x + self.projection(self.value(memory).mean(dim=1, keepdim=True))
)


def _whole_batch_without_words(kind: Any) -> Any:
    """Checks whether no sample of the batch has a word, instead of checking each sample."""

    def forward(self, x, memory, real):
        return kind.forward(self, x, memory, real) if real.any() else x

    return type("Answer", (kind,), {"forward": forward})


def _no_word_among_others(evidence: Evidence) -> str:
    words = evidence.inputs["empty"].any(axis=1)
    return unwrapped(f"""The memory of sample {words.argmin()} has no word, but that of sample
    {words.argmax()} has some, so `real.any()` is true for the batch. `real.any(dim=1)` checks each
    sample, and where it is false, `x` should come out. {_off(evidence)}""")


_whole_batch_asked = mistake(
    "You keep `x` unchanged only if no sample of the batch has a word. Check each sample instead.",
    _no_word_among_others,
    also=(_whole_batch_without_words(_padding_averaged),),
)(_whole_batch_without_words(_nan))

# What to do if there is nothing to take a softmax of.
_KEEP = "`real.any(dim=1)` tells which samples have a word. Where it is false, keep `x`."

_nan_for_nobody = mistake(
    "If the memory holds no word, your output is NaN instead of the unchanged `x`.",
    lambda e: f"{_no_word(e)} The softmax of a row of −inf is 0 / 0. {_KEEP}",
)(_nan)

_padding_for_nobody = mistake(
    "If the memory holds no word, you average its padding instead of keeping `x` unchanged.",
    lambda e: (
        f"{_no_word(e)} If all scores are equal, however low, their softmax is uniform. {_KEEP}"
    ),
)(_padding_averaged)


class _NobodyForAll(CrossAttention):
    """Leaves the whole batch unchanged as soon as one sample has no word."""

    def forward(self, x, memory, real):
        return super().forward(x, memory, real) if real.any(dim=1).all() else x


_one_nobody_for_all = mistake(
    "You leave the whole batch unchanged if one sample has no word, instead of only that sample.",
    _no_word,
)(_NobodyForAll)

_zeros_for_nobody = mistake(
    "If the memory holds no word, you return zeros instead of the unchanged `x`.", _no_word
)(_for_nobody(lambda self, x, memory: torch.zeros_like(x)))


@mistake(
    "Your linear layers have biases, but they should have none.",
    lambda e: unwrapped(f"""Besides the four matrices and the norm, your module has vectors with
    {int(e.yours("biases"))} entries. `nn.Linear` has a bias unless you say `bias=False`."""),
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
    """(B, T, H, D): what the heads must have found, from what was added to x."""
    x, projection = (evidence.inputs[name].astype(float) for name in ("x", "projection"))
    found = np.linalg.solve(projection, (answer.astype(float) - x).reshape(-1, x.shape[-1]).T).T
    return found.reshape(*x.shape[:2], evidence.number("H"), -1)


def _mask_of_another_sample(evidence: Evidence) -> Finding | None:
    """Whose padding each head hides, if that is all that is wrong."""
    if not evidence.same("whole") or not evidence.comparable("padded"):
        return None
    given = {name: evidence.inputs[name].astype(float) for name in ("x", "memory", "key", "value")}
    x, H = given["x"], evidence.number("H")
    x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    queries = (x * evidence.inputs["gain"] + evidence.inputs["shift"]) @ evidence.inputs["query"].T
    q, k, values = (
        side.reshape(*side.shape[:2], H, -1)
        for side in (
            queries,
            given["memory"] @ given["key"].T,
            given["memory"] @ given["value"].T,
        )
    )
    taken = masks_taken(
        _found_by_heads(evidence, evidence.yours("padded")),
        np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1]),
        values,
        evidence.inputs["real"],
    )
    if taken is None:
        return None
    B = len(taken)
    b, h = (int(i) for i in np.argwhere(taken != np.arange(B)[:, None])[0])
    pattern = ""
    if np.array_equal(evidence.inputs["real"][taken], evidence.inputs["real"][_folded(B, H)]):
        pattern = (
            " If you fold the heads into the batch, sample b and head h are row b · H + h, and "
            "`real.repeat_interleave(H, dim=0)` has the rows in that order."
        )
    return Finding(
        "mask-of-another-sample",
        "You hide the padding of another sample.",
        f"In sample {b}, head {h} sees what `real` shows of sample {int(taken[b, h])}; "
        f"{int((taken != np.arange(B)[:, None]).sum())} of {taken.size} heads take another "
        f"sample's mask.{pattern}",
        ATTENTION,
    )


def _folded(B: int, H: int) -> Array:
    """(B, H) int: whose mask each head gets if the masks of all samples are repeated as a whole."""
    return np.arange(B * H).reshape(B, H) % B


def _other_weights(evidence: Evidence) -> Finding | None:
    """Which weights one head uses, solved for from what was added to x."""
    case, real = next(
        (pair for pair in _REAL if not evidence.same(pair[0])),
        ("", ""),
    )
    if not case or not evidence.comparable(case) or not np.isfinite(evidence.yours(case)).all():
        return None
    ratio = evidence.yours(case) / evidence.right(case)
    if np.ptp(ratio) < 1e-3 * abs(ratio.mean()):
        return None  # saying that all are off by one factor tells more
    if case == "empty":
        return _added_for_nobody(evidence)
    H = evidence.number("H")
    memory, value = (evidence.inputs[name].astype(float) for name in ("memory", "value"))
    values = (memory @ value.T).reshape(*memory.shape[:2], H, -1)  # (B, S, H, D)
    mine, right = (
        _found_by_heads(evidence, side(case)) for side in (evidence.yours, evidence.right)
    )
    shown = np.abs(mine - right).max(axis=-1)
    b, t, h = (int(i) for i in np.unravel_index(int(shown.argmax()), shown.shape))
    weights, wanted = (weights_on(values[b, :, h], side[b, t, h]) for side in (mine, right))
    place = f"In sample {b}, position {t}, head {h},"
    if wanted is None:  # with so few channels, other weights could give the same
        return Finding(
            "other-weights", "You don't add the right thing to `x`.", _off(evidence), ATTENTION
        )
    if weights is None:
        other = [n for n in range(H) if weights_on(values[b, :, n], mine[b, t, h]) is not None]
        if other:
            return Finding(
                "other-weights",
                "You have what one head found at the channels of another one.",
                f"{place} at channels {h} · D to {h + 1} · D − 1 before the projection, you have "
                f"an average of the values of head {other[0]}. {_off(evidence)}",
                ATTENTION,
            )
        return Finding(
            "other-weights",
            "What you add to `x` isn't a projected average of the memory's values.",
            f"{place} no weights of this head's values give what you add, with the projection "
            "undone. "
            "So check what you add to `x`, the values, and which channels belong to a head. "
            f"{_off(evidence)}",
            ATTENTION,
        )
    total, hidden = float(weights.sum()), weights[~evidence.inputs[real][b]]
    told = ""
    if abs(total - 1) > _READABLE:
        told += f" Yours sum to {number(total)}."
    if abs(hidden).max(initial=0) > _READABLE:
        told += f" Padding gets {number(float(hidden.sum()))}."
    quoted = f"{place} your weights for the memory are {row(weights.round(_DIGITS))} instead of "
    quoted += f"{row(wanted.round(_DIGITS))}.{told}"
    what, more = _of_all_weights(evidence, real, values, mine, right) or (
        "You add the memory's values to `x`, but with wrong weights.",
        ""
        if told
        else "They sum to 1, so check what the scores are made of: the norm, queries, keys and the "
        "scale.",
    )
    return Finding("other-weights", what, f"{quoted} {more}".strip(), ATTENTION)


def _added_for_nobody(evidence: Evidence) -> Finding | None:
    """If only samples without a word are wrong."""
    off = ~close(evidence.yours("empty"), evidence.right("empty")).all(axis=(1, 2))
    words = evidence.inputs["empty"].any(axis=1)
    if (off & words).any():
        return None
    return Finding(
        "other-weights",
        "If the memory holds no word, `x` should come out unchanged, but yours doesn't.",
        f"{_no_word(evidence)} All other samples are right. {_KEEP}",
        ATTENTION,
    )


def _of_all_weights(
    evidence: Evidence, real: str, values: Array, mine: Array, right: Array
) -> tuple[str, str] | None:
    """What the weights of all heads and positions have in common; None if nothing is known."""
    B, T, H, _ = mine.shape
    places = [(b, t, h) for b in range(B) for t in range(T) for h in range(H)]
    solved = [
        [weights_on(values[b, :, h], side[b, t, h]) for b, t, h in places] for side in (mine, right)
    ]
    if any(one is None for side in solved for one in side):
        return None
    yours, wanted = (np.array(side).reshape(B, T, H, -1) for side in solved)
    words = np.broadcast_to(evidence.inputs[real][:, None, None], yours.shape)
    seen = np.where(words, yours, 0.0)
    if np.ptp(yours, axis=-1).max() < _READABLE:
        return "All your weights are equal, so the scores make no difference.", ""
    if H > 1 and np.ptp(yours, axis=2).max() < _READABLE:
        return "All your heads have the same weights, but each should have its own.", ""
    share = seen.sum(axis=-1, keepdims=True)
    some = share > 10 * _READABLE
    hidden_seen = np.abs(np.where(words, 0.0, yours)).max() > _READABLE
    if (
        hidden_seen
        and some.any()
        and np.abs(np.where(some, seen / np.where(some, share, 1.0) - wanted, 0.0)).max() < 0.05
    ):
        return (
            "Padding gets some of your weight, but it should get none.",
            "Among the words, your weights are in the right proportions, so only the mask is "
            "missing or too weak: scores of padding need to be −inf.",
        )
    factor = _factor_of_scores(yours, wanted)
    if factor is None:
        return None
    if abs(factor - 1) > 0.01:
        return (
            "Your weights are the softmax of the right scores times a factor.",
            f"The factor is about {number(factor)}, so check what scores are divided by.",
        )
    if not hidden_seen and (wanted[np.abs(yours) < _READABLE] > 0.1).any():
        return (
            "You hide words of the memory that should be seen.",
            "Of the places that you do see, the weights are in the right proportions, so only the "
            "mask is wrong.",
        )
    return None


def _factor_of_scores(mine: Array, right: Array) -> float | None:
    """The factor between the scores of two softmaxes (…, S); None if there is none."""
    both = np.minimum(mine, right) > 3 * _READABLE
    both &= both.sum(axis=-1, keepdims=True) > 1
    count = np.maximum(both.sum(axis=-1, keepdims=True), 1)
    a, b = (np.where(both, np.log(np.where(both, w, 1.0)), 0.0) for w in (mine, right))
    a, b = (np.where(both, x - x.sum(axis=-1, keepdims=True) / count, 0.0) for x in (a, b))
    if (b * b).sum() < 1:
        return None  # too few of them are readable
    factor = float((a * b).sum() / (b * b).sum())
    return factor if factor > 0 and np.abs(a - factor * b).max() < 0.05 * (1 + factor) else None


# In which cases which words of the memory are real.
_REAL = (("whole", "all"), ("padded", "real"), ("empty", "empty"))
# Weights are read off numbers in single precision: smaller ones say little.
_READABLE = 1e-3
# Later digits of a weight are rounding.
_DIGITS = 5


TASK = Task(
    "Cross-attention over a memory that may be empty",
    CrossAttention,
    ATTENTION,
    (
        Part("Every position gets what all heads found.", 2, matches("whole")),
        Part("Padding of the memory gets no weight.", 2, matches("padded")),
        Part("If the memory holds no word, `x` is unchanged.", 1, matches("empty")),
        Part("No linear layer has a bias.", 1, matches("whole", "biases")),
    ),
    cases=("whole", "padded", "empty"),
    properties=(_mask_of_another_sample, _other_weights),
    steps={
        "the split into heads": Step("(B, T, C) becomes (B, T, H, D), and then H moves in front."),
        "the weights": Step(
            "Weights sum to 1 over the memory, and only with −∞ does padding get none."
        ),
        "the weights without any word": Step("The softmax of a row of −∞ is NaN: it is 0 / 0."),
        "the heads side by side": Step("H moves behind T again before the heads are laid flat."),
        "the queries": Step("Queries are made of the normalized `x`.", MODEL),
        "the values": Step("Values are made of the memory, which is looked at."),
        "D": Step("A score is a sum of D products, so D sets its scale."),
        "the scores": Step("A score is a sum of D products, so D sets its scale."),
        "what is added": Step("What all heads found is projected before it is added.", MODEL),
        "your output": Step("What was found is added to `x` as it came in.", MODEL),
    },
)
