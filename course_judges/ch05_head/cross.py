"""Judges 05/cross: one sequence asks another, which may be padded at its end."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch05_head.sections import FUTURE, PASSED, SCALE, TWO
from course_judges.judging import Evidence, Mistake, Part, Task, matches
from course_judges.wording import number, row
from course_tasks.verdict import Finding


def cross_attention(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    """A right answer to 05/cross: (B, T, C), (B, S, C), three maps, (B,) → (B, T, E)."""
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(w_key.shape[1])  # (B, T, S)
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]  # (B, S)
    return scores.masked_fill(padding[:, None], -torch.inf).softmax(dim=-1) @ value


_Answer = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
_Weigh = Callable[[Tensor, Tensor], Tensor]


def _weighed(weigh: _Weigh, scale: Callable[[int, int, int], float] | None = None) -> _Answer:
    """An answer with other weights, from scores (B, T, S) and padding (B, 1, S)."""

    def answer(
        x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
    ) -> Tensor:
        C, D, E = len(w_key), w_key.shape[1], w_value.shape[1]
        over = math.sqrt(D) if scale is None else scale(C, D, E)
        scores = (x @ w_query) @ (memory @ w_key).transpose(1, 2) / over
        padding = (torch.arange(memory.shape[1]) >= lengths[:, None])[:, None]
        return weigh(scores, padding) @ (memory @ w_value)

    return answer


def _usual(scores: Tensor, padding: Tensor) -> Tensor:
    return scores.masked_fill(padding, -torch.inf).softmax(dim=-1)


def _causal_too(scores: Tensor, padding: Tensor) -> Tensor:
    future = torch.ones(scores.shape[1:], dtype=torch.bool).triu(1)
    return _usual(scores, padding | future)


def _other_lengths(by: int) -> _Answer:
    """An answer that takes each memory for so many symbols longer than it is."""

    def answer(
        x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
    ) -> Tensor:
        return cross_attention(x, memory, w_query, w_key, w_value, lengths + by)

    return answer


def _asks_itself(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    everything = torch.full_like(lengths, x.shape[1] + 0 * memory.shape[1])
    return cross_attention(x, x, w_query, w_key, w_value, everything)


def _half_of_each(
    x: Tensor,
    memory: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    lengths: Tensor,  # noqa: ARG001
) -> Tensor:
    scores = (x @ w_query) @ (x @ w_key).transpose(1, 2) / math.sqrt(w_key.shape[1])
    return scores.softmax(dim=-1) @ (memory @ w_value)


def _roles_exchanged(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    return cross_attention(memory, x, w_query, w_key, w_value, torch.full_like(lengths, x.shape[1]))


def _maps_exchanged(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    return cross_attention(x, memory, w_key, w_query, w_value, lengths)


def _raw_values(
    x: Tensor,
    memory: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,  # noqa: ARG001
    lengths: Tensor,
) -> Tensor:
    return cross_attention(x, memory, w_query, w_key, torch.eye(len(w_key)).to(x), lengths)


def _zeroed_memory(
    x: Tensor, memory: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, lengths: Tensor
) -> Tensor:
    real = torch.arange(memory.shape[1]) < lengths[:, None]  # (B, S)
    everything = torch.full_like(lengths, memory.shape[1])
    return cross_attention(x, memory * real[:, :, None], w_query, w_key, w_value, everything)


def _is_half_of_each(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("full")
    return raised is not None and "batch2" in raised.message


def _is_self_attention(evidence: Evidence) -> bool:
    names = ("x", "memory", "w_query", "w_key", "w_value", "full")
    wrong = _asks_itself(*(torch.from_numpy(evidence.inputs[name]) for name in names)).numpy()
    mine = evidence.yours("full")
    return mine.shape == wrong.shape and bool(np.allclose(mine, wrong, rtol=1e-4, atol=1e-5))


def _has_memorys_length(evidence: Evidence) -> bool:
    B, S, E = (evidence.number(name) for name in "BSE")
    return evidence.yours("full").shape == (B, S, E)


def _is_raw(evidence: Evidence) -> bool:
    B, T, C = (evidence.number(name) for name in "BTC")
    return evidence.yours("full").shape == (B, T, C)


def _first(evidence: Evidence, case: str = "full", t: int = 0) -> str:
    mine, right = evidence.yours(case)[0, t, :3], evidence.right(case)[0, t, :3]
    return (
        f"In sample 0 the output of position {t} begins with {row(mine)}; it should begin with "
        f"{row(right)}."
    )


def _sizes(evidence: Evidence) -> str:
    C, D, E = (evidence.number(name) for name in "CDE")
    return f"C = {C}, D = {D}, E = {E}. {_first(evidence)}"


def _padded(evidence: Evidence) -> str:
    S, length = evidence.number("S"), int(evidence.inputs["lengths"][0])
    return (
        f"Memory 0 has {length} symbols and {S - length} of padding. {_first(evidence, 'padded')}"
    )


def _shape(evidence: Evidence) -> str:
    mine, right = evidence.yours("full").shape, evidence.right("full").shape
    return f"Your result has shape {mine}; expected is {right}."


def _padding_counts(evidence: Evidence) -> Finding | None:
    if not evidence.same("full") or evidence.same("padded"):
        return None
    gap = np.abs(evidence.yours("padded") - evidence.right("padded")).max()
    return Finding(
        "padding-wrong",
        "Without padding your answer is right, with padding it is not.",
        f"The outputs differ by up to {number(gap)}. {_padded(evidence)}",
        TWO,
    )


TASK = Task(
    "Cross-attention",
    cross_attention,
    TWO,
    (
        Part(
            "Each position of `x` gets the right average over a memory without padding.",
            3,
            matches("full"),
        ),
        Part("Padding of the memory gets no weight.", 3, matches("padded")),
    ),
    (
        Mistake(
            "self-cross",
            _half_of_each,
            "Keys came from one sequence and values from the other.",
            lambda e: (
                f"T = {e.number('T')} and S = {e.number('S')} do not fit together: whoever is "
                "found gives the value, so keys and values both come from `memory`."
            ),
            TWO,
            recognised=_is_half_of_each,
        ),
        Mistake(
            "self-attention",
            _asks_itself,
            "`x` asks itself; the memory is not used.",
            lambda e: f"{_first(e)} Keys and values come from `memory`.",
            TWO,
            recognised=_is_self_attention,
        ),
        Mistake(
            "roles-exchanged",
            _roles_exchanged,
            "The memory asks and `x` answers; it should be the other way round.",
            _shape,
            TWO,
            recognised=_has_memorys_length,
        ),
        Mistake(
            "maps-exchanged",
            _maps_exchanged,
            "`w_query` was applied to the memory and `w_key` to `x`.",
            _first,
            TWO,
            cases=("full",),
        ),
        Mistake(
            "raw-values",
            _raw_values,
            "You averaged the memory itself; `w_value` is not applied.",
            _shape,
            PASSED,
            recognised=_is_raw,
        ),
        Mistake(
            "scale-by-channels",
            _weighed(_usual, lambda C, D, E: math.sqrt(C)),  # noqa: ARG005
            "You divided by √C; scores are sums of D products.",
            _sizes,
            SCALE,
            cases=("full",),
        ),
        Mistake(
            "scale-by-values",
            _weighed(_usual, lambda C, D, E: math.sqrt(E)),  # noqa: ARG005
            "You divided by the root of the values' size; scores are made of queries and keys.",
            _sizes,
            SCALE,
            cases=("full",),
        ),
        Mistake(
            "no-scale",
            _weighed(_usual, lambda C, D, E: 1.0),  # noqa: ARG005
            "The scores are not divided by √D.",
            _sizes,
            SCALE,
            cases=("full",),
        ),
        Mistake(
            "causal-mask-kept",
            _weighed(_causal_too),
            "You kept the causal mask: position t sees only the first t + 1 of the memory.",
            lambda e: f"{_first(e)} The memory is all there from the start.",
            TWO,
            cases=("full",),
        ),
        Mistake(
            "softmax-over-queries",
            _weighed(lambda s, p: s.masked_fill(p, -torch.inf).softmax(dim=1).nan_to_num(0.0)),
            "Your softmax runs over the positions that ask.",
            lambda e: f"The weights of one position do not sum to 1. {_first(e)}",
            TWO,
            cases=("full",),
        ),
        Mistake(
            "padding-seen",
            _weighed(lambda s, p: s.softmax(dim=-1) + 0 * p),
            "`lengths` has no effect: padding is averaged too.",
            _padded,
            FUTURE,
            cases=("full", "padded"),
        ),
        Mistake(
            "one-padding-seen",
            _other_lengths(1),
            "You let one position of padding through.",
            lambda e: f"{_padded(e)} Positions 0 to length − 1 belong to a text.",
            FUTURE,
            cases=("padded",),
        ),
        Mistake(
            "last-symbol-hidden",
            _other_lengths(-1),
            "You hid the last symbol of each memory.",
            lambda e: f"{_padded(e)} Positions 0 to length − 1 belong to a text.",
            FUTURE,
            cases=("padded",),
        ),
        Mistake(
            "inverted-mask",
            _weighed(lambda s, p: s.masked_fill(~p, -torch.inf).softmax(dim=-1)),
            "You hid the symbols and kept the padding.",
            _padded,
            FUTURE,
            cases=("padded",),
        ),
        Mistake(
            "zero-mask",
            _weighed(lambda s, p: s.masked_fill(p, 0.0).softmax(dim=-1)),
            "Scores of padding became 0, which is a score like any other.",
            lambda e: f"e⁰ = 1, so padding keeps a share. {_padded(e)}",
            FUTURE,
            cases=("padded",),
        ),
        Mistake(
            "padding-as-zeros",
            _zeroed_memory,
            "You set padding to 0 in the memory; it still takes part.",
            lambda e: (
                f"A key of zeros has score 0 with every query, and e⁰ = 1: the padding adds "
                f"nothing and takes its share. {_padded(e)}"
            ),
            FUTURE,
            cases=("padded",),
        ),
        Mistake(
            "masked-after-softmax",
            _weighed(lambda s, p: s.softmax(dim=-1) * ~p),
            "You took the softmax first and cut padding out of it afterwards.",
            lambda e: f"What was cut is missing from the sum. {_padded(e)}",
            FUTURE,
            cases=("padded",),
        ),
    ),
    (_padding_counts,),
)
